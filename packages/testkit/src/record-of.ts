import type { KafkaRecord } from "@cdckit/decode";
import { bytesOf, type WrittenBytes } from "./written-bytes.ts";

/** What a test may say of a record beside its value. */
export interface RecordFields {
  /** @default "t" */
  readonly topic?: string;
  /** @default 0 */
  readonly partition?: number;
  /** @default 0n */
  readonly offset?: bigint | number;
  /**
   * In milliseconds.
   * @default 0n
   */
  readonly timestamp?: bigint | number;
  /** @default null */
  readonly key?: WrittenBytes | null;
  /** @default [] */
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
