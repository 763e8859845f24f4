import type { CdcEvent, RecordBatch, RecordCoordinates } from "@cdckit/decode";
import type { PartitionAssignment } from "../driver.ts";
import { toError } from "../user-code/user-value.ts";
import { decodeFailure, handlerFailure, sinkFailure } from "./halt.ts";

/** One record where it lies: in its batch, during one assignment. */
export interface RecordPlace {
  readonly assignment: PartitionAssignment;
  readonly batch: RecordBatch;
  /** The batch's own handle. */
  readonly record: number;
}

/** What failed, before anything is decided about it. */
export interface Failure {
  /** Reading is walking to the next record: no record is to blame. */
  readonly stage: "read" | "decode" | "handle";
  /** What was thrown. */
  readonly error: unknown;
  readonly place: RecordPlace;
  /** An event of the record, where it was decoded. */
  readonly event: CdcEvent | null;
  /** Who failed where no handler did: the name of the sink. */
  readonly sink: string | null;
  /** Where several records were handed on together, which of them is to blame is not known: the offset of the last. */
  readonly through: bigint | null;
}

export function coordinatesOf({ batch, record }: RecordPlace): RecordCoordinates {
  return { topic: batch.topic, partition: batch.partition, offset: batch.offsetAt(record) };
}

/** The error that the consumer halts with, if it does. */
export function haltErrorOf({ stage, error, place, sink, through }: Failure): Error {
  if (stage === "read") {
    return toError(error);
  }
  const at = coordinatesOf(place);
  if (stage === "decode") {
    return decodeFailure(error, at);
  }
  return sink === null ? handlerFailure(error, at, through) : sinkFailure(error, at, through, sink);
}
