import { setTimeout as delay } from "node:timers/promises";
import type { TopicCreation } from "@cdckit/consumer";
import {
  bounded,
  type BrokerQuestions,
  isReplacedIn,
  type Landmark,
  type LogEnds,
  neededToCreate,
  originOf,
  type Place,
  placeOf,
  type Position,
  sharedAbortController,
  type TopicIdsByName,
  type Tried,
  topicsOf,
} from "@cdckit/driver";
import type { Admin } from "kafkajs";
import { KafkaJsDriverError } from "./errors.ts";
import type { ClusterQuestions } from "./cluster-questions.ts";
import { coordinatorNotFound, loginUnfinished, refusedIn } from "./explain-failure.ts";

/** What is answered while a coordinator or a leader moves, or is new. kafkajs' admin does not ask again after them. */
const passingErrors: ReadonlySet<unknown> = new Set([
  "GROUP_LOAD_IN_PROGRESS",
  "GROUP_COORDINATOR_NOT_AVAILABLE",
  "NOT_COORDINATOR_FOR_GROUP",
  "LEADER_NOT_AVAILABLE",
  "NOT_LEADER_FOR_PARTITION",
  "REPLICA_NOT_AVAILABLE",
  loginUnfinished,
]);
const passingDeadlineMs = 15_000;
const askAgainAfterMs = 200;
const answerDeadlineMs = 20_000;

/** What kafkajs commits if an offset is out of range and nobody prevents it: "the start of the log". */
const resetOffset = "-2";

/** Asks the brokers for offsets, topics and members on a connection of its own, so that fetches and questions do not delay each other. */
export class BrokerOffsets implements BrokerQuestions {
  readonly #makeAdmin: () => Admin;
  readonly #groupId: string;
  readonly #cluster: ClusterQuestions;
  readonly #deadlineMs: number;
  #admin: Promise<Admin> | undefined;
  readonly #closed: AbortController = sharedAbortController();

  constructor(makeAdmin: () => Admin, groupId: string, cluster: ClusterQuestions) {
    this.#makeAdmin = makeAdmin;
    this.#groupId = groupId;
    this.#cluster = cluster;
    this.#deadlineMs = answerDeadlineMs + cluster.loginMs;
  }

  /** The ids of topics by their names, null for one that does not exist; empty if the brokers have none. */
  topicIds(topics: readonly string[]): Promise<TopicIdsByName> {
    return this.#cluster.topicIds(topics);
  }

  /** Whether another record stands at the landmark's offset; false if that cannot be known. */
  async isReplaced(topic: string, partition: number, landmark: Landmark): Promise<boolean> {
    return isReplacedIn(await this.#cluster.recordsAt(topic, partition, landmark.offset), landmark);
  }

  topics(): Promise<readonly string[]> {
    return this.#ask((admin) => admin.listTopics());
  }

  /**
   * Does nothing if the topic exists by now. What is left out gets the brokers' own default. Resolves when the brokers know the topic: one that has much
   * to do learns for seconds nothing of what its controller has made, and kafkajs' own wait for the leaders fails then. If they take still longer, the topic
   * is made all the same.
   */
  async createTopic(topic: string, { partitions = -1, replicationFactor = -1 }: TopicCreation): Promise<void> {
    await this.#ask(async (admin) => {
      const topics = [{ topic, numPartitions: partitions, replicationFactor }];
      await admin.createTopics({ topics, waitForLeaders: false }).catch((error: unknown) => {
        throw creationError(error, topic);
      });
    });
    await this.#ask((admin) => admin.fetchTopicMetadata({ topics: [topic] }), undefined, isTopicUnknown).catch((error: unknown) => {
      if (!isTopicUnknown(error) && !isPassing(error)) {
        throw error;
      }
    });
  }

  /** One that a broker keeps from the user has another answer than one that does not exist. */
  hidden(topics: readonly string[]): Promise<readonly string[]> {
    return this.#cluster.hidden(topics);
  }

  partitionsOf(topics: readonly string[]): Promise<readonly Place[]> {
    return this.#ask(async (admin) => {
      const { topics: known } = await admin.fetchTopicMetadata({ topics: [...topics] });
      return known.flatMap(({ name: topic, partitions }) => partitions.map(({ partitionId: partition }) => ({ topic, partition })));
    });
  }

  /** The group's commits in the topics of these partitions. */
  committed(places: readonly Place[], tried?: Tried): Promise<ReadonlyMap<string, Position>> {
    return this.#ask(async (admin) => {
      const answers = await admin.fetchOffsets({ groupId: this.#groupId, topics: [...topicsOf(places)] });
      const commits = answers.flatMap(({ topic, partitions }) =>
        partitions.map(({ partition, offset, metadata }) => {
          const position: Position = { offset: BigInt(offset), ...originOf(metadata) };
          return [placeOf(topic, partition), position] as const;
        }),
      );
      return new Map(commits.filter(([, { offset }]) => offset >= 0n));
    }, tried);
  }

  /**
   * The partitions in which kafkajs has replaced the group's commit because its offset was out of range: the trace of a member without this driver
   * that has handled nothing since.
   */
  resets(topics: readonly string[], tried?: Tried): Promise<ReadonlySet<string>> {
    return this.#ask(async (admin) => {
      const answers = await admin.fetchOffsets({ groupId: this.#groupId, topics: [...topics] });
      return new Set(
        answers.flatMap(({ topic, partitions }) =>
          partitions.filter(({ offset }) => String(offset) === resetOffset).map(({ partition }) => placeOf(topic, partition)),
        ),
      );
    }, tried);
  }

  /**
   * The starts and ends of the logs of these topics. kafkajs' admin ends them before the first open transaction, and a client that reads uncommitted
   * records may have committed a position after that. With a wrapper around kafkajs' client that end is all there is. Otherwise a partition whose
   * end is not known is left out: a position after an open transaction would look like one of a truncated log.
   */
  ends(topics: readonly string[], tried?: Tried): Promise<ReadonlyMap<string, LogEnds>> {
    return this.#ask(async (admin) => {
      const answers = await Promise.all(
        topics.map(async (topic) => {
          const highWatermarks = this.#cluster.highWatermarks(topic).catch(() => this.#cluster.highWatermarks(topic)); // of leaders that have moved
          const [partitions, known] = await Promise.all([admin.fetchTopicOffsets(topic), highWatermarks]);
          const areAllKnown = known === null || partitions.every(({ partition }) => known.has(partition));
          const highs = areAllKnown ? known : await this.#cluster.highWatermarks(topic, true);
          return partitions.flatMap(({ partition, low, high }) => {
            const stable = BigInt(high);
            const end = highs === null ? stable : highs.get(partition);
            return end === undefined
              ? []
              : [[placeOf(topic, partition), { low: BigInt(low), high: end < stable ? stable : end, stable }] as const];
          });
        }),
      );
      return new Map(answers.flat());
    }, tried);
  }

  /** The offset of the first record of this time or later in each partition, or its end. */
  offsetsAt(topics: readonly string[], timestamp: bigint, tried?: Tried): Promise<ReadonlyMap<string, bigint>> {
    return this.#ask(async (admin) => {
      const answers = await Promise.all(
        topics.map(async (topic) => ({ topic, partitions: await admin.fetchTopicOffsetsByTimestamp(topic, Number(timestamp)) })),
      );
      return new Map(
        answers.flatMap(({ topic, partitions }) =>
          partitions.map(({ partition, offset }) => [placeOf(topic, partition), BigInt(offset)] as const),
        ),
      );
    }, tried);
  }

  /** The metadata with which the members of the group have joined. */
  members(): Promise<readonly Buffer[]> {
    return this.#ask(async (admin) => {
      const { groups } = await admin.describeGroups([this.#groupId]);
      return groups.flatMap(({ members }) => members.map(({ memberMetadata }) => memberMetadata));
    });
  }

  async close(): Promise<void> {
    this.#closed.abort(new KafkaJsDriverError("client-crashed", "the session is closed"));
    await Promise.all([this.#letGo(), this.#cluster.close()]);
  }

  /** Asks until it is answered: on a new connection each time, because kafkajs' admin would go on with what it knows of the leaders. */
  async #ask<T>(question: (admin: Admin) => Promise<T>, tried?: Tried, passesHere: (error: unknown) => boolean = isPassing): Promise<T> {
    for (const beginMs = performance.now(); ; ) {
      try {
        return await this.#askOnce(question);
      } catch (error) {
        if (!(isPassing(error) || passesHere(error)) || performance.now() - beginMs >= passingDeadlineMs) {
          throw error;
        }
        tried?.(error);
      }
      await delay(askAgainAfterMs, undefined, { signal: this.#closed.signal });
    }
  }

  async #askOnce<T>(question: (admin: Admin) => Promise<T>): Promise<T> {
    this.#closed.signal.throwIfAborted();
    this.#admin ??= this.#connect();
    const connected = this.#admin;
    try {
      return await bounded(
        connected.then(question),
        this.#deadlineMs,
        () => new KafkaJsDriverError("brokers-unreachable", `no answer within ${this.#deadlineMs} ms`),
        this.#closed.signal,
      );
    } catch (error) {
      // kafkajs' admin remembers deleted topics, and then fails for ever. A new one is made with the next question.
      if (this.#admin === connected) {
        await this.#letGo();
      }
      // If no broker answers, kafkajs takes its own null for an answer.
      throw error instanceof TypeError ? new KafkaJsDriverError("brokers-unreachable", "no broker answered", { cause: error }) : error;
    }
  }

  async #connect(): Promise<Admin> {
    const admin = this.#makeAdmin();
    await admin.connect();
    return admin;
  }

  async #letGo(): Promise<void> {
    const connected = this.#admin;
    this.#admin = undefined;
    // The first failure is reported, not this one.
    await connected?.then((admin) => admin.disconnect()).catch(() => {});
  }
}

/** kafkajs puts the brokers' reasons into an error that says only that there are some. */
function creationError(error: unknown, topic: string): Error {
  const { errors: [first] = [] } = error as { readonly errors?: readonly Error[] };
  if (first === undefined || isPassing(first)) {
    return first ?? (error as Error);
  }
  const detail = `the topic ${topic} could not be created: ${first.message}`;
  return refusedIn(first) === null
    ? new KafkaJsDriverError("client-crashed", detail, { cause: first })
    : new KafkaJsDriverError("not-authorized", `${detail}. ${neededToCreate(topic)}`, { cause: first });
}

/** Whether it passes by itself, within seconds and without anybody's doing. */
function isPassing(error: unknown): boolean {
  const { type, name } = error as { readonly type?: unknown; readonly name?: unknown };
  return passingErrors.has(type) || name === coordinatorNotFound;
}

function isTopicUnknown(error: unknown): boolean {
  return (error as { readonly type?: unknown }).type === "UNKNOWN_TOPIC_OR_PARTITION";
}
