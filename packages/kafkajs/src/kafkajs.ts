import type { DriverCapabilities, DriverSession, DriverSink, KafkaDriver, Subscription } from "@cdckit/consumer";
import { preflight } from "@cdckit/driver";
import type { Cluster, Consumer, ConsumerConfig, ICustomPartitioner, Kafka, KafkaConfig, PartitionAssigner, ProducerConfig } from "kafkajs";
import { AskedTopics } from "./asked-topics.ts";
import { KafkaJsDriverError, makeError } from "./errors.ts";
import { whyNotLoaded } from "./why-not-loaded.ts";
import { adaptedClient, type AgingCluster } from "./adapted-client.ts";
import { type JoinGate, gateJoins } from "./join-gate.ts";
import { toLogger } from "./log.ts";
import { loginMsOf, loginOf } from "./login.ts";
import { BrokerOffsets } from "./broker-offsets.ts";
import { type KafkaJsOptions, type ResolvedKafkaJsOptions, resolveKafkaJsOptions } from "./options.ts";
import type { MakeProducer, OwnProducer } from "./own-producer.ts";
import { Partitions } from "./partitions.ts";
import { KafkaJsSession } from "./session.ts";
import type { SessionParts } from "./session-parts.ts";
import { StartDiagnosis } from "./start-diagnosis.ts";
import { SubscriptionCheck } from "./subscription-check.ts";
import { ClusterQuestions } from "./cluster-questions.ts";
import { HeartbeatInterval } from "./heartbeat-interval.ts";
import { Connections } from "./connections.ts";
import { tapDecoders, type TappedCluster } from "./wire/decoder-tap.ts";
import { KeptFetches } from "./wire/kept-fetches.ts";

const reasons: NonNullable<DriverCapabilities["reasons"]> = Object.freeze({
  cooperative: "kafkajs speaks the eager protocol of groups alone: all members let go of all partitions",
  kip848: "kafkajs does not know the requests of KIP-848",
  leaderEpoch: "kafkajs sends no leader epochs with its fetches",
  staticMembership: "kafkajs joins groups without a group.instance.id",
  nullHeaders: "kafkajs takes the length of every header's value: it is written as an empty one",
});

const capabilities: DriverCapabilities = Object.freeze({
  metadataCommit: true,
  topicIds: true, // of brokers from Kafka 2.8 on
  cooperative: false,
  awaitsRevoked: true,
  kip848: false,
  leaderEpoch: false,
  codecs: Object.freeze(["none", "gzip", "snappy", "lz4", "zstd"] as const),
  crc: true,
  offsetResetNone: true,
  reportsStart: true,
  staticMembership: false,
  nullHeaders: false,
  reasons,
});

/** Said once for each consumer with a client of the application's own. */
const ownClient =
  "the client is the application's own: its sockets are not watched, and nothing is fetched while records are handled; kafkajs({ brokers }) does both";

/** Few retries, so that a start that cannot reach a broker fails soon. A running consumer has more patience. */
const preflightRetry = Object.freeze({ retries: 2, initialRetryTime: 200 });
const preflightRequestTimeoutMs = 10_000;
/**
 * As patient as kafkajs' own defaults, but with shorter pauses. The timer of a retry cannot be cancelled: a long one keeps the process alive
 * after a stop, and delays the next attempt when the brokers are back.
 */
const patientRetry = Object.freeze({ initialRetryTime: 300, maxRetryTime: 1_000, retries: 10 });
/**
 * So long a partition is read from the replica that its leader has named. kafkajs asks the leader again after the greatest age of metadata, and not before:
 * if the replica is gone, it goes on asking it for as long, or nobody at all.
 */
const replicaLeaseMs = 5_000;

/**
 * The driver for kafkajs: `kafkajs({ brokers })`, or `kafkajs({ kafka })` with a client of your own. Nothing is connected yet.
 *
 * kafkajs 2.2 keeps a timer of one millisecond on every connection (https://github.com/tulios/kafkajs/issues/1751), which costs a few percent of a core
 * and makes Node 24 write a `TimeoutNegativeWarning`. The driver's connections have no such timer, also with a client of your own; the other
 * consumers and producers of that client have it. `node --disable-warning=TimeoutNegativeWarning` hides the warning.
 */
export function kafkajs(options: KafkaJsOptions): KafkaDriver {
  const resolved = resolveKafkaJsOptions(options);
  return Object.freeze({
    name: "kafkajs",
    capabilities,
    connect: (subscription: Subscription, sink: DriverSink) => connect(resolved, subscription, sink),
  });
}

/** The parts of a client that the driver has made, or of the application's client. */
interface Client {
  readonly kafka: Kafka;
  readonly brokerOffsets: BrokerOffsets;
  readonly makeProducer: MakeProducer;
  readonly assigner: PartitionAssigner;
  /** Has the record batches taken before kafkajs decodes them, if they are not read from the driver's own sockets. */
  readonly tap: (cluster: Cluster) => void;
  readonly topicsIn: (metadata: Buffer) => readonly string[];
  readonly brokers: string;
  /** The connections of the consumer; null if they are the application's. */
  readonly connections: Connections | null;
  /** The record batches that are taken out of Fetch responses. */
  readonly kept: KeptFetches;
  readonly destroySockets: () => void;
}

async function connect(options: ResolvedKafkaJsOptions, subscription: Subscription, sink: DriverSink): Promise<DriverSession> {
  const module = await loadKafkaJs();
  const client = clientOf(options, subscription, module, sink);
  const { signal, logger } = subscription;
  if (options.client.kind === "own") {
    logger.info({}, ownClient);
  }
  const givenUp = new AbortController();
  const giveUp = (): void => {
    givenUp.abort(); // first: what the end of the sockets brings about is no lost connection
    client.destroySockets();
    void client.brokerOffsets.close(); // not awaited: nobody needs its answer
  };
  const diagnosis = new StartDiagnosis(options, client.brokers, subscription);
  signal?.addEventListener("abort", giveUp);
  try {
    signal?.throwIfAborted(); // it may have been aborted while kafkajs was loaded
    const topics = await diagnosis.orRefused(preflight(client.brokerOffsets, subscription, makeError));
    return await join(client, options, { subscription, topics, sink, givenUp: givenUp.signal });
  } catch (error) {
    giveUp();
    throw await diagnosis.explain(error);
  } finally {
    signal?.removeEventListener("abort", giveUp);
  }
}

async function join(
  client: Client,
  { tuning }: ResolvedKafkaJsOptions,
  { subscription, topics, sink, givenUp }: Pick<SessionParts, "subscription" | "topics" | "sink" | "givenUp">,
): Promise<DriverSession> {
  const check = new SubscriptionCheck({ subscription, topics, sink, brokerOffsets: client.brokerOffsets, topicsIn: client.topicsIn });
  const gate: JoinGate = {
    before: async (request) => {
      check.reset();
      await session.beforeJoin(request);
    },
    beforeFetch: () => session.beforeFetch(),
    joined: (group, commit) => {
      check.joined(group);
      session.useGeneration(commit);
    },
    outOfRange: (place) => session.outOfRange(place),
    topicUnknown: () => session.topicUnknown(),
    leaving: () => session.leaving(),
    isOver: () => session.isOver,
  };
  const askedTopics = new AskedTopics();
  const heartbeatInterval = new HeartbeatInterval(tuning.heartbeatIntervalMs);
  const consumer: Consumer = client.kafka.consumer({
    groupId: subscription.groupId,
    ...inTermsOfKafkaJs(tuning),
    heartbeatInterval: heartbeatInterval as unknown as number, // kafkajs compares it and adds it, and does nothing else with it
    allowAutoTopicCreation: false,
    partitionAssigners: [assignerOf(client, gate, askedTopics, tuning)],
    // A join that is under way when the session ends fails later. It must not bring the member back.
    retry: { restartOnFailure: async () => !session.isOver },
  });
  consumer.on(consumer.events.HEARTBEAT, () => heartbeatInterval.sent());
  client.connections?.watched(consumer);
  const { brokers, connections, kept, destroySockets, brokerOffsets, makeProducer } = client;
  const session: KafkaJsSession = new KafkaJsSession({
    consumer,
    subscription,
    topics,
    sink,
    askedTopics,
    brokerOffsets,
    makeProducer,
    tuning,
    brokers,
    kept,
    givenUp,
    reconnect: (why) => connections?.replace(why, performance.now()),
    endFetches: () => connections?.sockets.endFetches(),
    destroySockets,
  });
  const { GROUP_JOIN, RECEIVED_UNSUBSCRIBED_TOPICS } = consumer.events;
  consumer.on(GROUP_JOIN, ({ payload }) => check.assigned(payload.memberAssignment, payload.isLeader));
  consumer.on(RECEIVED_UNSUBSCRIBED_TOPICS, ({ payload }) => check.received(payload.topicsNotSubscribed, payload.topicsSubscribed));
  await consumer.connect();
  await session.run();
  return session;
}

/** kafkajs gives the consumer's own cluster to assigners alone. */
function assignerOf(
  { assigner, tap }: Client,
  gate: JoinGate,
  askedTopics: AskedTopics,
  { metadataMaxAgeMs }: ResolvedKafkaJsOptions["tuning"],
): PartitionAssigner {
  return (config) => {
    const { brokerPool = {} } = config.cluster as unknown as Partial<AgingCluster>;
    Object.assign(brokerPool, { metadataMaxAge: metadataMaxAgeMs } satisfies Partial<AgingCluster["brokerPool"]>);
    gateJoins(config.cluster, gate);
    askedTopics.askedBy(config.cluster);
    tap(config.cluster);
    return assigner(config);
  };
}

function inTermsOfKafkaJs(tuning: ResolvedKafkaJsOptions["tuning"]): Omit<ConsumerConfig, "groupId"> {
  return {
    sessionTimeout: tuning.sessionTimeoutMs,
    rebalanceTimeout: tuning.rebalanceTimeoutMs,
    maxBytesPerPartition: tuning.maxBytesPerPartition,
    maxBytes: tuning.maxBytes,
    maxWaitTimeInMs: tuning.maxWaitMs,
    metadataMaxAge: Math.min(replicaLeaseMs, tuning.metadataMaxAgeMs), // that of the metadata itself is set in its cluster
    rackId: tuning.rackId,
  };
}

function clientOf(
  options: ResolvedKafkaJsOptions,
  { groupId, logger }: Subscription,
  module: typeof import("kafkajs"),
  sink: DriverSink,
): Client {
  const { client, tuning } = options;
  const producerOf = producersWith(module.Partitioners.DefaultPartitioner);
  const topicsIn = (metadata: Buffer): readonly string[] => module.AssignerProtocol.MemberMetadata.decode(metadata)?.topics ?? [];
  const kept = new KeptFetches(options.largestMinFetchBytes);
  const common = { topicsIn, kept, assigner: module.PartitionAssigners.roundRobin };
  if (client.kind === "own") {
    const tap = (cluster: Cluster): void => tapDecoders(cluster as unknown as TappedCluster, kept);
    return { ...common, tap, ...partsOfOwn(client.kafka, groupId, producerOf, tuning) };
  }
  const { connectTo, ...connection } = client.config;
  const { brokers, sasl } = connection;
  const names = Array.isArray(brokers) ? brokers.join(", ") : "of the given function";
  const connections = new Connections(sink, names, connectTo, kept);
  // Connections beside the consumer's. Their users retry and report their waits themselves, so only replacements are counted.
  const counted: Pick<DriverSink, "reconnected"> = { reconnected: (why) => sink.reconnected?.(why) };
  const ofBrokerOffsets = new Connections(counted, names, connectTo);
  const ofProducers = new Set<Connections>();
  const config = {
    clientId: "cdckit",
    ...connection,
    retry: { ...patientRetry, ...connection.retry },
    brokers: connections.sockets.brokersWhileOpen(brokers),
    logCreator: toLogger(logger),
    socketFactory: connections.sockets.factory,
  };
  const patience = { requestTimeout: preflightRequestTimeoutMs, ...config, retry: preflightRetry };
  const { sockets } = ofBrokerOffsets;
  const makeClient = (clientConfig: KafkaConfig): Kafka =>
    adaptedClient(new module.Kafka(sasl === undefined ? clientConfig : { ...clientConfig, sasl: loginOf(sasl) }));
  const offsetsClient = makeClient({ ...patience, brokers: sockets.brokersWhileOpen(brokers), socketFactory: sockets.factory });
  return {
    kafka: makeClient(config),
    brokerOffsets: new BrokerOffsets(
      () => ofBrokerOffsets.watched(offsetsClient.admin({ retry: preflightRetry })),
      groupId,
      new ClusterQuestions(offsetsClient, tuning.decompression, loginMsOf(sasl)),
    ),
    makeProducer: (producerConfig: ProducerConfig) => {
      // Each producer has sockets of its own. When it is given up, they are ended, so that kafkajs' retries cannot write anything.
      const own = new Connections(counted, names, connectTo);
      ofProducers.add(own);
      const kafka = makeClient({ ...patience, brokers: own.sockets.brokersWhileOpen(brokers), socketFactory: own.sockets.factory });
      const destroySockets = (): void => {
        own.destroy();
        ofProducers.delete(own);
      };
      const made = producerOf(kafka, producerConfig);
      return { ...made, producer: own.watched(made.producer), destroySockets };
    },
    ...common,
    tap: () => {},
    brokers: names,
    connections,
    destroySockets: () => [connections, ofBrokerOffsets, ...ofProducers].forEach((each) => each.destroy()),
  };
}

type ProducerOf = (kafka: Kafka, config: ProducerConfig) => Pick<OwnProducer, "producer" | "partitions">;

function producersWith(partitioner: ICustomPartitioner): ProducerOf {
  return (kafka, config) => {
    const partitions = new Partitions(partitioner);
    return { partitions, producer: kafka.producer({ createPartitioner: partitions.partitioner, ...config }) };
  };
}

/** Nothing is done with the connections of an application's client. */
function partsOfOwn(
  application: Kafka,
  groupId: string,
  producerOf: ProducerOf,
  { decompression }: ResolvedKafkaJsOptions["tuning"],
): Omit<Client, "assigner" | "tap" | "topicsIn" | "kept"> {
  const kafka = adaptedClient(application);
  return {
    kafka,
    brokerOffsets: new BrokerOffsets(() => kafka.admin({ retry: preflightRetry }), groupId, new ClusterQuestions(kafka, decompression)),
    makeProducer: (config) => ({ ...producerOf(kafka, config), destroySockets: () => {} }),
    brokers: "of the given client",
    connections: null,
    destroySockets: () => {},
  };
}

/** Loaded with the first connection, so that users of another client need not install kafkajs. */
async function loadKafkaJs(): Promise<typeof import("kafkajs")> {
  try {
    // kafkajs is a CommonJS module. Node exports only some of its names (not CompressionCodecs), but the default export has all.
    return (await import("kafkajs")).default;
  } catch (error) {
    throw new KafkaJsDriverError("kafkajs-missing", `the package kafkajs cannot be loaded: ${whyNotLoaded(error)}`, { cause: error });
  }
}
