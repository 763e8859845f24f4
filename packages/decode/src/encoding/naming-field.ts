import { isDecodeError } from "../errors.ts";

/** Reads a payload in place. The payload must end exactly at `end`. */
type ReadPayload = (bytes: Uint8Array, start: number, end: number) => unknown;

/**
 * A generated reader whose errors name the field that could not be read. Generated code does not keep where it is, because that would cost
 * each record. Its slower twin does.
 */
export function namingField(read: ReadPayload, makeTwin: () => ReadPayload): ReadPayload {
  let twin: ReadPayload | null = null;
  return (bytes, start, end) => {
    try {
      return read(bytes, start, end);
    } catch (error) {
      throw withPath(error, () => (twin ??= makeTwin())(bytes, start, end));
    }
  };
}

/**
 * The error that reading the same bytes once more throws, if that is the same failure. A message that exceeds a bound is not read again,
 * because that would let it cost twice as much.
 */
export function withPath(error: unknown, readAgain: () => unknown): unknown {
  if (!isDecodeError(error) || error.code === "limit-exceeded") {
    return error;
  }
  try {
    readAgain();
  } catch (again) {
    if (isDecodeError(again) && again.code === error.code) {
      return again;
    }
  }
  return error;
}
