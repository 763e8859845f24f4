/** What Lambda hands over for Kafka, and what it is answered: https://docs.aws.amazon.com/lambda/latest/dg/with-msk.html */
import type { KafkaRecord } from "@cdckit/decode";
import { LambdaError } from "./errors.ts";

/** An event of an event source mapping for Amazon MSK (`aws:kafka`) or for a Kafka of your own (`SelfManagedKafka`). */
export interface KafkaEvent {
  /** `aws:kafka` or `SelfManagedKafka`, which is also written `aws:SelfManagedKafka`. */
  readonly eventSource: string;
  /** The records of each partition, in the order of their offsets, by `topic-partition`. */
  readonly records: Readonly<Record<string, readonly KafkaEventRecord[]>>;
}

/** A record as Lambda writes it: key and value in base64, each header as an object of one name. What is null may be left out. */
export interface KafkaEventRecord {
  /** The name of the topic. */
  readonly topic: string;
  /** The number of the partition, from 0. */
  readonly partition: number;
  /** The record's offset, as a JSON number. */
  readonly offset: number;
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
  /** The bytes of the key in base64. */
  readonly key?: string | null;
  /** The bytes of the value in base64; null for a tombstone. */
  readonly value?: string | null;
  /** One object for each header, in their order: its name, and the bytes of its value as numbers (a byte above 127 may be negative); null for no value. */
  readonly headers?: readonly Readonly<Record<string, readonly number[] | null>>[] | null;
}

/** Where Lambda goes on: one entry for each partition that has a failure. The records below it count as handled. */
export interface KafkaBatchResponse {
  /** The failures. Empty: all records are handled. */
  readonly batchItemFailures: readonly KafkaBatchItemFailure[];
}

/** The first record of a partition that was not handled. */
export interface KafkaBatchItemFailure {
  /** `partition` is the name of the partition in the event, `topic-partition`. */
  readonly itemIdentifier: { readonly partition: string; readonly offset: number };
}

// A Kafka of your own has two names: published examples of events have both.
const sources: readonly unknown[] = ["aws:kafka", "SelfManagedKafka", "aws:SelfManagedKafka"];

/** The partitions of an event. Throws if the event is not one of Kafka: Lambda hands over whatever the function's triggers are. */
export function partitionsOf(event: unknown): readonly (readonly [name: string, records: readonly KafkaEventRecord[]])[] {
  const { eventSource, records } = (event ?? {}) as Partial<Record<keyof KafkaEvent, unknown>>;
  if (!sources.includes(eventSource) || typeof records !== "object" || records === null) {
    const found = typeof eventSource === "string" ? `eventSource ${JSON.stringify(eventSource)}` : "no eventSource";
    throw new LambdaError(
      "invalid-event",
      `expected an event of Kafka (eventSource "aws:kafka" or "SelfManagedKafka", with records), found ${found}: give this function no other trigger`,
    );
  }
  return Object.entries(records).map(([name, list]) => [name, recordsOf(name, list)] as const);
}

/** The records of a partition. Each has an offset: without it, an answer could not name the record. */
function recordsOf(name: string, list: unknown): readonly KafkaEventRecord[] {
  if (!Array.isArray(list)) {
    throw new LambdaError("invalid-event", `expected records[${JSON.stringify(name)}] to be a list of records, found ${kindOf(list)}`);
  }
  for (const [index, record] of list.entries()) {
    const offset: unknown = isObject(record) ? Reflect.get(record, "offset") : undefined;
    if (!Number.isSafeInteger(offset)) {
      throw new LambdaError(
        "invalid-event",
        `expected records[${JSON.stringify(name)}][${index}] to be a record with an integer as its offset, found ${isObject(record) ? "another offset, or none" : kindOf(record)}`,
      );
    }
  }
  return list as readonly KafkaEventRecord[];
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** Without the value, which may be bytes of a record. */
function kindOf(value: unknown): string {
  return value === null ? "null" : typeof value;
}

/** The record with its bytes. Throws if a part is not as Lambda writes it: it would be read as other bytes, and nobody would see that. */
export function kafkaRecordOf(record: KafkaEventRecord): KafkaRecord {
  const { topic, partition, offset, timestamp, key, value, headers } = record;
  if (!Number.isSafeInteger(timestamp)) {
    throw invalidPart(record, "timestamp", "an integer", kindOf(timestamp));
  }
  const list: unknown = headers ?? [];
  if (!Array.isArray(list) || !list.every(isObject)) {
    throw invalidPart(record, "headers", "a list of objects", Array.isArray(list) ? "a list of something else" : kindOf(list));
  }
  return {
    topic,
    partition,
    offset: BigInt(offset),
    timestamp: BigInt(timestamp),
    key: bytesOf(record, "key", key),
    value: bytesOf(record, "value", value),
    headers: list.flatMap((header) => Object.entries(header).map(([name, bytes]) => [name, headerBytesOf(record, bytes)] as const)),
  };
}

/** An empty text is an empty value, which is no tombstone. */
function bytesOf(record: KafkaEventRecord, side: "key" | "value", base64: unknown): Buffer | null {
  if (base64 === null || base64 === undefined) {
    return null;
  }
  if (typeof base64 !== "string") {
    throw invalidPart(record, side, "base64", kindOf(base64));
  }
  const bytes = Buffer.from(base64, "base64");
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
  // Node skips characters that are not of base64, so that JSON would be read as fewer bytes.
  if (bytes.length !== Math.floor(((base64.length - padding) * 3) / 4)) {
    throw invalidPart(record, side, "base64", "other text");
  }
  return bytes;
}

function headerBytesOf(record: KafkaEventRecord, bytes: unknown): Uint8Array | null {
  if (bytes === null) {
    return null;
  }
  if (!Array.isArray(bytes) || !bytes.every(isByte)) {
    throw invalidPart(record, "headers", "lists of bytes, as numbers", Array.isArray(bytes) ? "a list of something else" : kindOf(bytes));
  }
  return Uint8Array.from(bytes);
}

/** As Java writes it, which has no unsigned bytes, or as other languages do. */
function isByte(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= -128 && (value as number) <= 255;
}

function invalidPart({ topic, partition, offset }: KafkaEventRecord, part: string, expected: string, found: string): LambdaError {
  return new LambdaError(
    "invalid-event",
    `expected the ${part} of ${topic}[${partition}]@${offset} to be ${expected}, as Lambda writes it, found ${found}`,
  );
}
