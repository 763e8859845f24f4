import type { Properties } from "./low-level-client.ts";
import type { ConfluentConnection, ResolvedConfluentOptions } from "./options.ts";

/** librdkafka's properties that are not the user's: each is what a promise of the driver rests on, or has an option. */
export const ownProperties: ReadonlySet<string> = new Set([
  "bootstrap.servers",
  "metadata.broker.list",
  "client.id",
  "group.id",
  "group.instance.id",
  "group.protocol",
  "session.timeout.ms",
  "heartbeat.interval.ms",
  "max.poll.interval.ms",
  "partition.assignment.strategy",
  "enable.auto.commit",
  "enable.auto.offset.store",
  "enable.partition.eof",
  "auto.offset.reset",
  "isolation.level",
  "allow.auto.create.topics",
  "statistics.interval.ms",
  "rebalance_cb",
  "offset_commit_cb",
  "queue_non_empty_cb",
  "event_cb",
  "transactional.id",
  "enable.idempotence",
  "acks",
  "request.required.acks",
  "queued.max.messages.kbytes",
  "fetch.max.bytes",
  "max.partition.fetch.bytes",
  "fetch.message.max.bytes",
  "fetch.wait.max.ms",
  "topic.metadata.refresh.interval.ms",
]);

/** The properties of every client: how the brokers are reached. */
export function connectionProperties({ brokers, ssl, sasl, clientId = "cdckit", properties = {} }: ConfluentConnection): Properties {
  // TLS and the login may each come from an option or from the properties: neither may take the other away.
  const given = String(properties["security.protocol"] ?? "").toLowerCase();
  const isTls = (ssl !== undefined && ssl !== false) || given.endsWith("ssl");
  const hasLogin = sasl !== undefined || given.startsWith("sasl_") || namesMechanism(properties);
  return {
    "socket.keepalive.enable": true,
    "log.connection.close": false,
    ...properties,
    "bootstrap.servers": brokers.join(","),
    "client.id": clientId,
    ...(isTls || hasLogin ? { "security.protocol": `${hasLogin ? "sasl_" : ""}${isTls ? "ssl" : "plaintext"}` } : {}),
    ...(typeof ssl === "object" ? tlsProperties(ssl) : {}),
    ...(sasl === undefined
      ? {}
      : { "sasl.mechanisms": sasl.mechanism.toUpperCase(), "sasl.username": sasl.username, "sasl.password": sasl.password }),
  };
}

/** Whether these properties of the user choose how to log in. librdkafka has two names for it. */
export function namesMechanism(properties: Readonly<Record<string, unknown>>): boolean {
  return "sasl.mechanisms" in properties || "sasl.mechanism" in properties;
}

/** Whether librdkafka logs in by a token, which it gets by properties of the user. */
export function logsInByToken({ properties = {} }: ConfluentConnection): boolean {
  return String(properties["sasl.mechanisms"] ?? properties["sasl.mechanism"]).toUpperCase() === "OAUTHBEARER";
}

function tlsProperties({
  ca,
  cert,
  key,
  passphrase,
  rejectUnauthorized = true,
}: Exclude<ConfluentConnection["ssl"], boolean | undefined>): Properties {
  return {
    ...(ca === undefined ? {} : { "ssl.ca.pem": ca }),
    ...(cert === undefined ? {} : { "ssl.certificate.pem": cert }),
    ...(key === undefined ? {} : { "ssl.key.pem": key }),
    ...(passphrase === undefined ? {} : { "ssl.key.password": passphrase }),
    "enable.ssl.certificate.verification": rejectUnauthorized,
  };
}

/**
 * The properties of a client that only asks. By default librdkafka connects to a broker when a question is for it. If that broker is down, the
 * question makes it connect again and again without a pause, and a core is busy with that until the question has timed out. With connections to
 * all brokers, it pauses as it does otherwise. The property is in librdkafka's source, and not in its documentation.
 */
export function adminProperties(connection: ConfluentConnection): Properties {
  return { "enable.sparse.connections": false, ...connectionProperties(connection) };
}

/** No broker takes a larger request by default (`socket.request.max.bytes`). */
const largestRequestBytes = 104_857_600;

/**
 * The properties of a producer. How large a record may be is the topic's to say: librdkafka would refuse one of more than a million bytes, whatever the
 * topic allows. Several records are one batch only as far as `batch.size` goes, which is below what brokers take by default.
 */
export function producerProperties(connection: ConfluentConnection): Properties {
  return { "message.max.bytes": largestRequestBytes, ...connectionProperties(connection) };
}

/** How often librdkafka reports its state: twice for each heartbeat, so that a report between two tells whether the first was answered. */
export function statisticsIntervalMs(heartbeatIntervalMs: number): number {
  return Math.max(50, Math.floor(heartbeatIntervalMs / 2));
}

/**
 * So long the consumer waits for an answer until it replaces the connection. By default librdkafka waits for a minute: when the network was away and
 * had forgotten the connections, nothing came for so long. It is longer than a quota holds an answer back (ten seconds by default), and shorter than a session.
 */
const answerDeadlineMs = 20_000;

/**
 * librdkafka takes no fetches that are smaller than the largest record of its producers, and of that no smaller number than this. A consumer has none of
 * those, so that its fetches may be as small. A broker sends the first record in any case.
 */
const smallestFetchBytes = 1_000;
const largestRecordBytes = 1_000_000; // librdkafka's default

/** The properties of the consumer. */
export function consumerProperties({ connection, tuning }: ResolvedConfluentOptions, groupId: string): Properties {
  const isClassic = tuning.groupProtocol === "classic";
  const fetchBytes = Math.max(smallestFetchBytes, tuning.maxBytes);
  return {
    // When its queue is full, librdkafka waits a whole second by default before it fetches again.
    "fetch.queue.backoff.ms": 10,
    "fetch.error.backoff.ms": 100,
    "reconnect.backoff.max.ms": 1_000,
    "socket.timeout.ms": Math.max(answerDeadlineMs, tuning.maxWaitMs + 5_000),
    "message.max.bytes": Math.min(largestRecordBytes, fetchBytes),
    ...connectionProperties(connection),
    "check.crcs": connection.properties?.["check.crcs"] ?? true,
    "group.id": groupId,
    ...(tuning.groupInstanceId === undefined ? {} : { "group.instance.id": tuning.groupInstanceId }),
    "group.protocol": tuning.groupProtocol,
    ...(isClassic
      ? {
          "partition.assignment.strategy": "cooperative-sticky",
          "session.timeout.ms": tuning.sessionTimeoutMs,
          "heartbeat.interval.ms": tuning.heartbeatIntervalMs,
        }
      : {}),
    "max.poll.interval.ms": tuning.rebalanceTimeoutMs,
    "enable.auto.commit": false,
    "enable.auto.offset.store": false,
    // Its events say how far a partition was read if there are no records: control records, aborted ones.
    "enable.partition.eof": true,
    "isolation.level": "read_committed",
    "allow.auto.create.topics": false,
    "statistics.interval.ms": statisticsIntervalMs(tuning.heartbeatIntervalMs),
    "queued.max.messages.kbytes": Math.max(1, Math.ceil(tuning.maxQueuedBytes / 1_024)),
    "fetch.max.bytes": fetchBytes,
    "max.partition.fetch.bytes": tuning.maxBytesPerPartition,
    "fetch.wait.max.ms": tuning.maxWaitMs,
    "topic.metadata.refresh.interval.ms": tuning.metadataMaxAgeMs,
  };
}

/** A partition whose next offset is not in the log stops with an error. It is not moved silently. */
export const consumerTopicProperties: Properties = Object.freeze({ "auto.offset.reset": "error" });
