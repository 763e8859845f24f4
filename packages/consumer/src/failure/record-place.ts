import type { RecordBatch, RecordCoordinates } from "@cdckit/decode";
import type { PartitionAssignment } from "../driver.ts";

/** A record and its place: in its batch, during one assignment. */
export interface RecordPlace {
  readonly assignment: PartitionAssignment;
  readonly batch: RecordBatch;
  /** The batch's own handle. */
  readonly record: number;
  /** Its number among the records that this consumer has read. */
  readonly ordinal: number;
}

export function coordinatesOf({ batch, record }: RecordPlace): RecordCoordinates {
  return { topic: batch.topic, partition: batch.partition, offset: batch.offsetAt(record) };
}

/** The place of a record, in the form of every message, reason and log line of the consumer. */
export function placeText({ topic, partition, offset }: RecordCoordinates): string {
  return `${topic}[${partition}]@${offset}`;
}
