import type { KafkaRecord } from "@cdckit/decode";
import { bytesOf, type WrittenBytes } from "./written-bytes.ts";

/** What a test may say of a record beside its value. */
export interface RecordFields {
  /**
   * The name of the topic.
   * @default "t"
   */
  readonly topic?: string;
  /**
   * The number of the partition.
   * @default 0
   */
  readonly partition?: number;
  /**
   * The offset in its partition.
   * @default 0n
   */
  readonly offset?: bigint | number;
  /**
   * In milliseconds.
   * @default 0n
   */
  readonly timestamp?: bigint | number;
  /**
   * The key, as bytes in one of the written forms.
   * @default null
   */
  readonly key?: WrittenBytes | null;
  /**
   * The headers in their order.
   * @default []
   */
  readonly headers?: readonly (readonly [name: string, value: WrittenBytes | null])[];
}

/** A record as Kafka holds it, of its value and what else the test is about. */
export function recordOf(value: WrittenBytes | null, fields: RecordFields = {}): KafkaRecord {
  const { topic = "t", partition = 0, offset = 0n, timestamp = 0n, key = null, headers = [] } = fields;
  return {
    topic,
    partition,
    offset: BigInt(offset),
    timestamp: BigInt(timestamp),
    key: bytesOf(key),
    value: bytesOf(value),
    headers: headers.map(([name, bytes]) => [name, bytesOf(bytes)] as const),
  };
}
