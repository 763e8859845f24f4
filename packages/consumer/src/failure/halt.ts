import { isDecodeError, type RecordCoordinates } from "@cdckit/decode";
import { ConsumerError, isConsumerError } from "../errors.ts";

/** The error that `run()` rejects with when a record could not be decoded. */
export function decodeFailure(error: unknown, at: RecordCoordinates): Error {
  if (isDecodeError(error)) {
    return error.locatedAt(at);
  }
  return new ConsumerError("decoder-failed", `the decoder failed at ${place(at)}; the cause says why`, { cause: error, at });
}

/** The error that `run()` rejects with when a handler threw or rejected. A row that was refused before its handler saw it says so itself. */
export function handlerFailure(error: unknown, at: RecordCoordinates): Error {
  if (isConsumerError(error) && error.code === "invalid-row") {
    return error;
  }
  return new ConsumerError("handler-failed", `a handler failed at ${place(at)}; the cause says why, and the record was not committed`, {
    cause: error,
    at,
  });
}

export function place(at: RecordCoordinates): string {
  return `${at.topic}[${at.partition}] offset ${at.offset}`;
}
