import type { KafkaRecord, RecordHeaders } from "@cdckit/decode";
import type { OutgoingRecord } from "../driver.ts";
import { withJson } from "../json-form.ts";
import { cdckitHeader, connectHeader } from "./dead-letter-record.ts";

/** Where a dead letter comes from, and what happened to it there. What the writer left out is null. */
export interface DeadLetterOrigin {
  /** Who wrote the letter: a consumer of cdckit, Kafka Connect, or Spring Kafka. */
  readonly writer: "cdckit" | "connect" | "spring";
  /** The topic that the record came from. */
  readonly topic: string;
  /** The partition that the record came from. */
  readonly partition: number | null;
  /** The record's offset there. */
  readonly offset: bigint | null;
  /**
   * The record's own timestamp, in milliseconds since the epoch. Kafka Connect gives it to the letter itself and writes no header: then it
   * is null.
   */
  readonly timestamp: bigint | null;
  /** The connector's name, or the consumer group. */
  readonly groupId: string | null;
  /** Connect's name of the stage: `KEY_CONVERTER`, `VALUE_CONVERTER`, `TASK_PUT`, ... */
  readonly stage: string | null;
  /**
   * The error: the name of its class, its message, its stack. For what a handler threw, a letter of cdckit names class and code, and leaves
   * out the text that it was thrown with.
   */
  readonly exception: { readonly name: string | null; readonly message: string | null; readonly stack: string | null };
  /** How often it was tried: by cdckit, or by Spring's retry topics. Null for Kafka Connect. */
  readonly attempts: number | null;
  /** The id of the value's schema as text, if cdckit wrote the letter and the record named one. */
  readonly schemaId: string | null;
  /** If the record was parked: the offset of the earlier dead letter, of the same key and partition. */
  readonly parkedBehind: bigint | null;
}

const springPrefix = "kafka_dlt-";
const ownPrefixes: readonly string[] = ["__connect.errors.", "cdckit.", springPrefix, "retry_topic-"];

/**
 * What the headers of a dead letter say, as Kafka Connect, Spring Kafka or this consumer write them. Null if the record is no dead letter.
 */
export function deadLetterOf({ headers }: Pick<KafkaRecord, "headers">): DeadLetterOrigin | null {
  const connectTopic = textOf(headers, connectHeader.topic);
  if (connectTopic !== null) {
    return withJson(connectOrigin(headers.slice(lastFailureAt(headers)), connectTopic));
  }
  const springTopic = textOf(headers, `${springPrefix}original-topic`);
  return springTopic === null ? null : withJson(springOrigin(headers, springTopic));
}

/**
 * The record as it was before it became a dead letter, with its own timestamp, ready to be written to its topic again. Null if it is no
 * dead letter.
 */
export function redriveOf(record: KafkaRecord): OutgoingRecord | null {
  const origin = deadLetterOf(record);
  if (origin === null) {
    return null;
  }
  const failedAt = lastFailureAt(record.headers);
  const headers = record.headers.filter(([name], index) => index < failedAt || !ownPrefixes.some((prefix) => name.startsWith(prefix)));
  const place = origin.partition === null ? {} : { partition: origin.partition };
  return { topic: origin.topic, ...place, key: record.key, value: record.value, headers, timestamp: origin.timestamp ?? record.timestamp };
}

/**
 * Where the headers of the last failure begin. Who reads a dead-letter topic may fail at a letter, too, which keeps what it had: Connect writes the topic
 * first, and so does this consumer.
 */
function lastFailureAt(headers: RecordHeaders): number {
  const isTopic = ([name]: RecordHeaders[number]): boolean => name === connectHeader.topic;
  const last = headers.findLastIndex(isTopic);
  return last > headers.findIndex(isTopic) ? last : 0; // of one failure, whoever else writes them may have another order
}

function connectOrigin(headers: RecordHeaders, topic: string): DeadLetterOrigin {
  const own = textOf(headers, cdckitHeader.group);
  return {
    writer: own === null ? "connect" : "cdckit",
    topic,
    partition: numberOf(textOf(headers, connectHeader.partition)),
    offset: bigintOf(textOf(headers, connectHeader.offset)),
    timestamp: bigintOf(textOf(headers, cdckitHeader.recordTimestamp)),
    groupId: own ?? textOf(headers, connectHeader.group),
    stage: textOf(headers, connectHeader.stage),
    exception: {
      name: textOf(headers, connectHeader.exception),
      message: textOf(headers, connectHeader.message),
      stack: textOf(headers, connectHeader.stack),
    },
    attempts: numberOf(textOf(headers, cdckitHeader.attempts)),
    schemaId: textOf(headers, cdckitHeader.schemaId),
    parkedBehind: bigintOf(textOf(headers, cdckitHeader.parkedBehind)),
  };
}

/** Spring writes numbers as big-endian integers: four bytes for a partition, eight for an offset and for a timestamp. */
function springOrigin(headers: RecordHeaders, topic: string): DeadLetterOrigin {
  const text = (name: string): string | null => textOf(headers, `${springPrefix}${name}`);
  const partition = integerOf(headers, `${springPrefix}original-partition`);
  const attempts = integerOf(headers, "retry_topic-attempts");
  return {
    writer: "spring",
    topic,
    partition: partition === null || partition < 0n ? null : Number(partition), // nothing can be written to a partition below 0
    offset: integerOf(headers, `${springPrefix}original-offset`),
    timestamp: integerOf(headers, `${springPrefix}original-timestamp`),
    groupId: text("original-consumer-group"),
    stage: null,
    exception: {
      name: text("exception-fqcn") ?? text("key-exception-fqcn"),
      message: text("exception-message") ?? text("key-exception-message"),
      stack: text("exception-stacktrace") ?? text("key-exception-stacktrace"),
    },
    attempts: attempts === null ? null : Number(attempts),
    schemaId: null,
    parkedBehind: null,
  };
}

/** The last header of that name. */
function bytesOf(headers: RecordHeaders, name: string): Uint8Array | null {
  return headers.findLast(([other]) => other === name)?.[1] ?? null;
}

function textOf(headers: RecordHeaders, name: string): string | null {
  const bytes = bytesOf(headers, name);
  return bytes === null ? null : Buffer.from(bytes).toString();
}

function integerOf(headers: RecordHeaders, name: string): bigint | null {
  const bytes = bytesOf(headers, name);
  if (bytes === null || (bytes.length !== 4 && bytes.length !== 8)) {
    return null;
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return bytes.length === 4 ? BigInt(view.getInt32(0)) : view.getBigInt64(0);
}

function numberOf(text: string | null): number | null {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/** Kafka's own limit of an offset and of a timestamp. Clients write the low bits of a higher number, which is another one. */
const maxInt64 = 2n ** 63n - 1n;

function bigintOf(text: string | null): bigint | null {
  const value = text !== null && /^-?\d{1,19}$/.test(text) ? BigInt(text) : null; // a record without a timestamp says -1
  return value === null || value > maxInt64 || value < -maxInt64 ? null : value;
}
