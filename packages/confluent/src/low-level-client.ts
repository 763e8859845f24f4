/**
 * The part of @confluentinc/kafka-javascript that the driver uses, in types of our own: the package cannot be a development dependency of
 * this repository, because its installation downloads or compiles the native part.
 */

/** An error of librdkafka. Codes below -100 are its own, codes above 0 are Kafka's. */
export interface ClientError extends Error {
  readonly code: number;
  readonly isRetriable?: boolean;
  readonly isTxnRequiresAbort?: boolean;
}

export type Answer<T> = (error: ClientError | null | undefined, answer: T) => void;

export interface TopicPartition {
  readonly topic: string;
  readonly partition: number;
}

export interface TopicPartitionOffset extends TopicPartition {
  readonly offset: number;
}

/** An offset to commit, or one that was committed. */
export interface CommittedPartition extends TopicPartitionOffset {
  readonly metadata?: string | null;
  readonly error?: ClientError;
}

/** A record as the client makes it. A header is an object with one property. */
export interface ClientMessage {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly timestamp: number;
  /** Absent if the record does not say it. */
  readonly leaderEpoch?: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers?: readonly object[];
}

export type Properties = Record<string, unknown>;

interface Client {
  on(event: string, listener: (...values: never[]) => void): this;
  removeAllListeners(): this;
}

export interface LowLevelConsumer extends Client {
  connect(options: { readonly timeout?: number; readonly allTopics?: boolean }, done: Answer<unknown>): void;
  disconnect(done: Answer<unknown>): void;
  setDefaultConsumeTimeout(timeoutMs: number): void;
  subscribe(topics: readonly string[]): void;
  unsubscribe(): void;
  consume(count: number, done: Answer<readonly ClientMessage[]>): void;
  /** The answer has an error in place of a partition that cannot be told. */
  committed(partitions: readonly TopicPartition[], timeoutMs: number, done: Answer<readonly (CommittedPartition | Error)[]>): void;
  commitCb(offsets: readonly CommittedPartition[], done: Answer<unknown>): void;
  incrementalAssign(partitions: readonly TopicPartition[]): void;
  incrementalUnassign(partitions: readonly TopicPartition[]): void;
  assignmentLost(): boolean;
  pause(partitions: readonly TopicPartition[]): void;
  resume(partitions: readonly TopicPartition[]): void;
  /** What the client knows. */
  getWatermarkOffsets(topic: string, partition: number): { readonly lowOffset: number; readonly highOffset: number };
  /** What the leader says. */
  queryWatermarkOffsets(topic: string, partition: number, timeoutMs: number, done: Answer<unknown>): void;
}

export interface LowLevelProducer extends Client {
  connect(options: { readonly timeout?: number; readonly allTopics?: boolean }, done: Answer<unknown>): void;
  disconnect(timeoutMs: number, done: Answer<unknown>): void;
  setPollInBackground(isOn: boolean): void;
  produce(
    topic: string,
    partition: number | null,
    value: Buffer | null,
    key: Buffer | null,
    timestamp: number | null,
    opaque: unknown,
    headers?: readonly object[],
  ): unknown;
  initTransactions(timeoutMs: number, done: Answer<unknown>): void;
  beginTransaction(done: Answer<unknown>): void;
  sendOffsetsToTransaction(
    offsets: readonly CommittedPartition[],
    consumer: LowLevelConsumer,
    timeoutMs: number,
    done: Answer<unknown>,
  ): void;
  commitTransaction(timeoutMs: number, done: Answer<unknown>): void;
  abortTransaction(timeoutMs: number, done: Answer<unknown>): void;
}

export interface TopicDescription {
  readonly name: string;
  readonly topicId: { readonly base64: string };
  readonly partitions: readonly {
    readonly partition: number;
    /** The broker that leads it; null if none does. */
    readonly leader?: { readonly id: number } | null;
  }[];
  /** What the user may do with it, by Kafka's numbers; only if it was asked for, and the brokers say it. */
  readonly authorizedOperations?: readonly number[];
  readonly error?: ClientError;
}

export interface ListedOffset extends TopicPartitionOffset {
  readonly error?: ClientError;
}

export interface LowLevelAdmin {
  disconnect(): void;
  listTopics(options: { readonly timeout: number }, done: Answer<readonly string[]>): void;
  createTopic(
    topic: { readonly topic: string; readonly num_partitions: number; readonly replication_factor: number },
    timeoutMs: number,
    done: Answer<unknown>,
  ): void;
  describeTopics(
    topics: readonly string[],
    options: { readonly timeout: number; readonly includeAuthorizedOperations?: boolean },
    done: Answer<readonly TopicDescription[]>,
  ): void;
  listOffsets(
    partitions: readonly (TopicPartition & { readonly offset: { readonly timestamp: number } })[],
    options: { readonly timeout: number; readonly isolationLevel: number },
    done: Answer<readonly ListedOffset[]>,
  ): void;
}

/** The module, as it is loaded. */
export interface ConfluentModule {
  readonly KafkaConsumer: new (properties: Properties, topicProperties: Properties) => LowLevelConsumer;
  readonly Producer: new (properties: Properties, topicProperties: Properties) => LowLevelProducer;
  readonly AdminClient: {
    create(properties: Properties, listeners: Readonly<Record<string, (value: never) => void>>): LowLevelAdmin;
  };
}

/** The answer of a call of the client that takes a callback. */
export function answerOf<T>(ask: (done: Answer<T>) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    ask((error, answer) => {
      if (error === null || error === undefined) {
        resolve(answer);
      } else {
        reject(error);
      }
    });
  });
}

/** Codes of librdkafka and of Kafka that the driver tells apart. */
export const codes = {
  badMessage: -199,
  badCompression: -198,
  unknownTopic: -188,
  allBrokersDown: -187,
  timedOut: -185,
  queueFull: -184,
  assignPartitions: -175,
  state: -172,
  noEntry: -156,
  purgedInQueue: -152,
  notImplemented: -170,
  authentication: -169,
  ssl: -181,
  resolve: -193,
  messageTimedOut: -192,
  transport: -195,
  fatal: -150,
  fenced: -144,
  offsetReset: -140,
  unknownTopicOrPartition: 3,
  coordinatorLoading: 14,
  coordinatorNotAvailable: 15,
  notCoordinator: 16,
  inconsistentProtocol: 23,
  unknownMember: 25,
  invalidSessionTimeout: 26,
  topicAuthorization: 29,
  groupAuthorization: 30,
  clusterAuthorization: 31,
  topicExists: 36,
  invalidProducerEpoch: 47,
  saslAuthentication: 58,
  groupMaxSize: 81,
  fencedInstance: 82,
  unstableOffsets: 88,
  producerFenced: 90,
} as const;
