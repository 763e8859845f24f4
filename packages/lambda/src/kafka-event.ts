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

/** The record with its bytes. */
export function kafkaRecordOf({ topic, partition, offset, timestamp, key, value, headers }: KafkaEventRecord): KafkaRecord {
  return {
    topic,
    partition,
    offset: BigInt(offset),
    timestamp: BigInt(timestamp),
    key: bytesOf(key),
    value: bytesOf(value),
    headers: (headers ?? []).flatMap((header) =>
      Object.entries(header).map(([name, bytes]) => [name, bytes === null ? null : Uint8Array.from(bytes)] as const),
    ),
  };
}

/** An empty text is an empty value, which is no tombstone. */
function bytesOf(base64: string | null | undefined): Buffer | null {
  return base64 === null || base64 === undefined ? null : Buffer.from(base64, "base64");
}
