import { type CdcEvent, DecodeError, isDecodeError, type RecordCoordinates } from "@cdckit/decode";
import { ConsumerError, isConsumerError } from "../errors.ts";
import { readMember, toError } from "../user-code/user-value.ts";
import { whatChangeLacks } from "./missing-image.ts";

/** The error that `run()` rejects with when a record could not be decoded. */
export function decodeFailure(error: unknown, at: RecordCoordinates): Error {
  if (isConsumerError(error) && readMember(error, "code") === "unhandled-event") {
    return toError(error);
  }
  if (isDecodeError(error) && typeof readMember(error, "locatedAt") === "function") {
    const { code, detail, cause } = error;
    return new DecodeError(code, `${place(at)}: ${detail}`, { cause, at });
  }
  return new ConsumerError("decoder-failed", `the decoder failed at ${place(at)}; the cause says why`, { cause: error, at });
}

/**
 * The error that `run()` rejects with when a handler threw or rejected. If a row was refused before its handler saw it, its own error says
 * so.
 */
export function handlerFailure(error: unknown, at: RecordCoordinates, through: bigint | null, event: CdcEvent | null): Error {
  if (isConsumerError(error) && ["invalid-row", "unhandled-event"].includes(String(readMember(error, "code")))) {
    return toError(error);
  }
  const lacks = through === null || through === at.offset ? whatChangeLacks(error, event) : ""; // otherwise it may be about another event
  return new ConsumerError("handler-failed", `a handler failed at ${places(at, through)}${lacks}`, { cause: error, at });
}

/** The error that `run()` rejects with when a sink could not apply what it was given. */
export function sinkFailure(error: unknown, at: RecordCoordinates, through: bigint | null, sink: string): Error {
  return new ConsumerError("sink-failed", `the sink ${JSON.stringify(sink)} failed at ${places(at, through)}`, { cause: error, at });
}

/** What was handed on: one record, or several of which any may be to blame. */
function places(at: RecordCoordinates, through: bigint | null): string {
  return through === null || through === at.offset
    ? `${place(at)}; the cause says why, and the record was not committed`
    : `${place(at)} to ${through}, which were handed on together; the cause says why, and none of them was committed`;
}

/** The place of a record, in the form of every message, reason and log line of the consumer. */
export function place({ topic, partition, offset }: RecordCoordinates): string {
  return `${topic}[${partition}]@${offset}`;
}
