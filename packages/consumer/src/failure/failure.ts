import type { CdcEvent, RecordBatch, RecordCoordinates } from "@cdckit/decode";
import type { PartitionAssignment } from "../driver.ts";
import { toError } from "../user-code/user-value.ts";
import { decodeFailure, type Fate, handlerFailure, sinkFailure } from "./halt.ts";

/** A record and its place: in its batch, during one assignment. */
export interface RecordPlace {
  readonly assignment: PartitionAssignment;
  readonly batch: RecordBatch;
  /** The batch's own handle. */
  readonly record: number;
  /** Its number among the records that this consumer has read. */
  readonly ordinal: number;
}

/** What failed, before anything is decided about it. */
export interface Failure {
  /** `read` is the step to the next record: no record is to blame. */
  readonly stage: "read" | "decode" | "handle";
  /** What was thrown. */
  readonly error: unknown;
  readonly place: RecordPlace;
  /** An event of the record, if it was decoded. */
  readonly event: CdcEvent | null;
  /** The name of the sink that failed. Null if a handler or the decoder did. */
  readonly sink: string | null;
  /** If several records were handed on together: the offset of the last. Which of them is to blame is not known. */
  readonly through: bigint | null;
}

export function coordinatesOf({ batch, record }: RecordPlace): RecordCoordinates {
  return { topic: batch.topic, partition: batch.partition, offset: batch.offsetAt(record) };
}

/** The error that the consumer halts with, if it does. */
export function haltErrorOf(failure: Failure): Error {
  return errorOf(failure, "halt");
}

/** What failed, as a dead letter and its log line say it. Without its cause, it has no text that a handler or a client wrote. */
export function deadLetterErrorOf(failure: Failure): Error {
  return errorOf(failure, "dead-letter");
}

function errorOf({ stage, error, place, event, sink, through }: Failure, fate: Fate): Error {
  if (stage === "read") {
    return toError(error);
  }
  const at = coordinatesOf(place);
  if (stage === "decode") {
    return decodeFailure(error, at, fate);
  }
  const work = { at, through, fate };
  return sink === null ? handlerFailure(error, work, event) : sinkFailure(error, work, sink);
}
