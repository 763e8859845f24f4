import type { DriverCapabilities, DriverSession, DriverSink, KafkaDriver, Subscription } from "@cdckit/consumer";
import type { Admin, Consumer, Kafka } from "kafkajs";
import { installCodecs, type KafkaJsCodecs } from "./codecs/install-codecs.ts";
import { KafkaJsDriverError } from "./errors.ts";
import { explainFailure } from "./explain-failure.ts";
import { toLogger } from "./log.ts";
import { type KafkaJsOptions, type ResolvedKafkaJsOptions, resolveKafkaJsOptions } from "./options.ts";
import { preflight } from "./preflight.ts";
import { KafkaJsSession } from "./session.ts";
import { Sockets } from "./sockets.ts";

const capabilities: DriverCapabilities = Object.freeze({
  metadataCommit: false,
  cooperative: false,
  kip848: false,
  leaderEpoch: false,
  codecs: Object.freeze(["none", "gzip", "snappy", "lz4", "zstd"] as const),
  crc: false,
  offsetResetNone: true,
});

/** A start that cannot reach anybody must say so soon; a consumer that runs is more patient. */
const preflightRetry = Object.freeze({ retries: 2, initialRetryTime: 200 });
const preflightRequestTimeoutMs = 10_000;

/**
 * The driver for kafkajs: `kafkajs({ brokers })`, or `kafkajs({ kafka })` with a client of your own. Nothing is connected yet.
 *
 * kafkajs 2.2 keeps a timer of one millisecond on every connection (https://github.com/tulios/kafkajs/issues/1751), which Node 24 remarks
 * upon once a process with a `TimeoutNegativeWarning`. None of kafkajs' options reaches it, and a library has no business in a process'
 * warnings: `node --disable-warning=TimeoutNegativeWarning` keeps it off stderr.
 */
export function kafkajs(options: KafkaJsOptions): KafkaDriver {
  const resolved = resolveKafkaJsOptions(options);
  return Object.freeze({
    name: "kafkajs",
    capabilities,
    connect: (subscription: Subscription, sink: DriverSink) => connect(resolved, subscription, sink),
  });
}

/** The parts of a client: made for this driver, or the application's. */
interface Client {
  readonly kafka: Kafka;
  /** The same brokers, with little patience. */
  readonly scout: Kafka;
  readonly brokers: string;
  readonly destroySockets: () => void;
}

async function connect(options: ResolvedKafkaJsOptions, subscription: Subscription, sink: DriverSink): Promise<DriverSession> {
  const module = await loadKafkaJs();
  installCodecs(module.CompressionCodecs as unknown as KafkaJsCodecs); // its type leaves out what can be put there
  const client = clientOf(options, subscription, module.Kafka);
  subscription.signal?.addEventListener("abort", client.destroySockets);
  try {
    const topics = await lookFirst(client, subscription);
    return await join(client, options, subscription, topics, sink);
  } catch (error) {
    client.destroySockets();
    throw explainFailure(error, client.brokers);
  } finally {
    subscription.signal?.removeEventListener("abort", client.destroySockets);
  }
}

async function lookFirst({ scout }: Client, subscription: Subscription): Promise<readonly string[]> {
  const admin: Admin = scout.admin({ retry: preflightRetry });
  try {
    await admin.connect();
    return await preflight(admin, subscription);
  } finally {
    // What went wrong before is what is reported.
    await admin.disconnect().catch(() => {});
  }
}

async function join(
  client: Client,
  { tuning }: ResolvedKafkaJsOptions,
  subscription: Subscription,
  topics: readonly string[],
  sink: DriverSink,
): Promise<DriverSession> {
  const consumer: Consumer = client.kafka.consumer({
    groupId: subscription.groupId,
    sessionTimeout: tuning.sessionTimeoutMs,
    rebalanceTimeout: tuning.rebalanceTimeoutMs,
    heartbeatInterval: tuning.heartbeatIntervalMs,
    maxBytesPerPartition: tuning.maxBytesPerPartition,
    maxBytes: tuning.maxBytes,
    maxWaitTimeInMs: tuning.maxWaitMs,
    allowAutoTopicCreation: false,
  });
  const { brokers, destroySockets } = client;
  const session = new KafkaJsSession({ consumer, sink, logger: subscription.logger, tuning, brokers, destroySockets });
  await consumer.connect();
  await consumer.subscribe({ topics: [...topics], fromBeginning: subscription.from === "earliest" });
  await session.run();
  return session;
}

function clientOf(options: ResolvedKafkaJsOptions, { logger }: Subscription, KafkaClass: typeof Kafka): Client {
  const { client } = options;
  if (client.kind === "own") {
    return { kafka: client.kafka, scout: client.kafka, brokers: "of the given client", destroySockets: () => {} };
  }
  const sockets = new Sockets();
  const { brokers } = client.config;
  const config = { clientId: "cdckit", ...client.config, logCreator: toLogger(logger), socketFactory: sockets.factory };
  return {
    kafka: new KafkaClass(config),
    scout: new KafkaClass({ requestTimeout: preflightRequestTimeoutMs, ...config, retry: preflightRetry }),
    brokers: Array.isArray(brokers) ? brokers.join(", ") : "of the given function",
    destroySockets: () => sockets.destroy(),
  };
}

/** Loaded with the first connection, so that whoever uses another client need not install it. */
async function loadKafkaJs(): Promise<typeof import("kafkajs")> {
  try {
    // A CommonJS module: Node finds only some of its names by itself (CompressionCodecs not among them), but all are on the default.
    return (await import("kafkajs")).default;
  } catch (error) {
    throw new KafkaJsDriverError("kafkajs-missing", "the package kafkajs cannot be loaded: npm install kafkajs", { cause: error });
  }
}
