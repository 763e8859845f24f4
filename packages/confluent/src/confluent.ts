import type { DriverCapabilities, DriverSession, DriverSink, KafkaDriver, Subscription } from "@cdckit/consumer";
import { bounded, type ConnectionAttempt, explainedByListeners, preflight } from "@cdckit/driver";
import { BrokerOffsets } from "./broker-offsets.ts";
import { ClientLog, type ClientLogLine, textOf } from "./client-log.ts";
import { ConfluentDriverError, makeError } from "./errors.ts";
import { explainFailure, refusal } from "./explain-failure.ts";
import { loadClient } from "./load-client.ts";
import {
  answerOf,
  type ClientError,
  codes,
  type ConfluentModule,
  type LowLevelAdmin,
  type LowLevelConsumer,
  type LowLevelProducer,
  type Properties,
  type TopicPartition,
  type TopicPartitionOffset,
} from "./low-level-client.ts";
import { type ConfluentConnection, type ConfluentOptions, type ResolvedConfluentOptions, resolveConfluentOptions } from "./options.ts";
import { adminProperties, consumerProperties, consumerTopicProperties, logsInByToken, producerProperties } from "./properties.ts";
import type { Throttling } from "./quota-waits.ts";
import { ConfluentSession } from "./session.ts";

/** An attempt takes a thread of libuv for so long at most, and a process that exits waits for that thread. */
const connectDeadlineMs = 5_000;
const connectAttempts = 2;
/** librdkafka tries on for as long as it is asked. A start whose connections have failed for so long fails. */
const refusedDeadlineMs = 3_000;

/**
 * The driver for @confluentinc/kafka-javascript, which is librdkafka: `confluent({ brokers })`. Nothing is loaded and nothing is connected yet.
 */
export function confluent(options: ConfluentOptions): KafkaDriver {
  const resolved = resolveConfluentOptions(options);
  return Object.freeze({
    name: "confluent",
    capabilities: capabilitiesOf(resolved),
    connect: (subscription: Subscription, sink: DriverSink) => connect(resolved, subscription, sink),
  });
}

function capabilitiesOf({ connection, tuning }: ResolvedConfluentOptions): DriverCapabilities {
  const checks = connection.properties?.["check.crcs"] ?? true;
  const kip848 = tuning.groupProtocol === "consumer";
  const crc = checks !== false && checks !== "false";
  return Object.freeze({
    metadataCommit: true,
    topicIds: true, // of brokers from Kafka 2.8 on
    cooperative: true,
    awaitsRevoked: true,
    kip848,
    leaderEpoch: true,
    codecs: Object.freeze(["none", "gzip", "snappy", "lz4", "zstd"] as const),
    crc,
    offsetResetNone: true,
    reportsStart: true,
    staticMembership: true,
    nullHeaders: false,
    reasons: Object.freeze({
      ...(kip848 ? {} : { kip848: 'it is chosen by `groupProtocol: "consumer"`' }),
      ...(crc ? {} : { crc: "the property check.crcs switches it off" }),
      nullHeaders: "the client gives a header without a value as an empty one",
    }),
  });
}

async function connect(options: ResolvedConfluentOptions, subscription: Subscription, sink: DriverSink): Promise<DriverSession> {
  const module = await loadClient();
  const { signal, logger } = subscription;
  const brokers = options.connection.brokers.join(", ");
  let refuse = (_error: Error): void => {};
  const refused = new Promise<never>((_, reject) => {
    refuse = reject;
  });
  refused.catch(() => {}); // it may come when nobody waits any more
  const log = new ClientLog(logger);
  let isRefused = false;
  const onLine = (line: ClientLogLine): void => {
    if (isRefused) {
      return; // the client goes on trying until it may be ended, and its start has failed with what it said before
    }
    log.line(line);
    const why = refusal(textOf(line), brokers);
    if (why !== null) {
      refuse(new ConfluentDriverError(why.code, why.detail));
    }
  };
  const onAbort = (): void => refuse(signal?.reason as Error);
  const unreachable = setTimeout(() => {
    if (log.lastFailure !== null) {
      refuse(explainFailure({ code: codes.transport }, brokers, log, subscription));
    }
  }, refusedDeadlineMs);
  signal?.addEventListener("abort", onAbort);
  try {
    signal?.throwIfAborted(); // it may have been aborted while the client was loaded
    const client = await connectedClient({ module, options, subscription, sink, log, onLine, brokers }, refused);
    clearTimeout(unreachable);
    try {
      client.session.listen();
      const topics = await Promise.race([preflight(client.brokerOffsets, subscription, makeError), refused, client.session.givenUp]);
      client.session.run(topics);
      return client.session;
    } catch (error) {
      void client.session.close(connectDeadlineMs);
      throw error;
    }
  } catch (error) {
    isRefused = true;
    throw await explainedByListeners(explainFailure(error, brokers, log, subscription), attemptOf(options.connection), makeError, signal);
  } finally {
    clearTimeout(unreachable);
    signal?.removeEventListener("abort", onAbort);
  }
}

/** Null if librdkafka's own properties decide about TLS or a login. */
function attemptOf({ brokers, ssl, sasl, properties = {} }: ConfluentConnection): ConnectionAttempt | null {
  if (Object.keys(properties).some((name) => /^(security|sasl|ssl)\./.test(name))) {
    return null;
  }
  const tls = ssl === true ? {} : ssl === false ? undefined : ssl;
  return { brokers, ...(tls && { tls }), ...(sasl && { mechanism: sasl.mechanism }) };
}

/** A client that is connected. A client that was not answered in time is given up, and another one tries. */
async function connectedClient(parts: ClientParts, refused: Promise<never>): Promise<Client> {
  for (let attempt = 1; ; attempt++) {
    const client = clientOf(parts);
    const connecting = connected(client.consumer);
    try {
      await Promise.race([connecting, refused]);
      return client;
    } catch (error) {
      // A client that still connects holds a thread of libuv, and one that is to disconnect meanwhile would hold another.
      void connecting.catch(() => {}).then(() => client.session.close(connectDeadlineMs));
      if (attempt === connectAttempts || !isUnanswered(error)) {
        throw error;
      }
    }
  }
}

function isUnanswered(error: unknown): boolean {
  const { code } = error as Partial<ClientError>;
  return code === codes.timedOut || code === codes.transport;
}

interface ClientParts {
  readonly module: ConfluentModule;
  readonly options: ResolvedConfluentOptions;
  readonly subscription: Subscription;
  readonly sink: DriverSink;
  readonly log: ClientLog;
  readonly onLine: (line: ClientLogLine) => void;
  readonly brokers: string;
}

interface Client {
  readonly consumer: LowLevelConsumer;
  readonly brokerOffsets: BrokerOffsets;
  readonly session: ConfluentSession;
}

/** The clients of a session. Nothing is connected yet. */
function clientOf({ module, options, subscription, sink, log, onLine, brokers }: ClientParts): Client {
  const properties: Properties = {
    ...consumerProperties(options, subscription.groupId),
    rebalance_cb: (error: ClientError, partitions: readonly TopicPartition[]) => session.rebalanced(error, partitions),
    offset_commit_cb: (error: ClientError | undefined, offsets: readonly TopicPartitionOffset[] | undefined) =>
      session.committed(error, offsets),
    queue_non_empty_cb: () => session.wake(),
  };
  const consumer = new module.KafkaConsumer(properties, { ...consumerTopicProperties });
  const ofProducers = producerProperties(options.connection);
  const makeProducer = (more: Properties): LowLevelProducer => {
    const producer = new module.Producer({ ...ofProducers, ...more }, {});
    producer.on("event.log", (line: ClientLogLine) => log.line(line));
    return producer;
  };
  const makeAdmin = (): LowLevelAdmin =>
    module.AdminClient.create(adminProperties(options.connection), { "event.log": onLine as (value: never) => void });
  const brokerOffsets = new BrokerOffsets(makeAdmin, consumer);
  const { tuning } = options;
  const session: ConfluentSession = new ConfluentSession({
    consumer,
    subscription,
    sink,
    brokerOffsets,
    makeProducer,
    tuning,
    brokers,
    log,
  });
  consumer.on("event.log", onLine);
  if (logsInByToken(options.connection)) {
    consumer.on("event.error", ({ message }: { readonly message: string }) => {
      if (/authentication failure/i.test(message)) {
        log.loginFailed();
      }
    });
  }
  consumer.on("event.throttle", (throttling: Throttling) => session.quotas.throttled(throttling));
  consumer.on("event.stats", ({ message }: { readonly message: string }) => session.reported(message));
  return { consumer, brokerOffsets, session };
}

async function connected(consumer: LowLevelConsumer): Promise<void> {
  const asked = answerOf<unknown>((done) => consumer.connect({ timeout: connectDeadlineMs, allTopics: false }, done));
  const late = (): Error => new ConfluentDriverError("brokers-unreachable", `no broker answered within ${connectDeadlineMs} ms`);
  await bounded(asked, connectDeadlineMs + 1_000, late);
}
