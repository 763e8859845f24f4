import { isDecodeError } from "../errors.ts";

/** Reads a payload in place. The payload must end exactly at `end`. */
type ReadPayload = (bytes: Uint8Array, start: number, end: number) => unknown;

/** The error that a read throws in place of one that it has met in these bytes. */
export type Explain = (error: unknown, bytes: Uint8Array, start: number, end: number) => unknown;

/**
 * Explains the errors of generated code, which does not keep in which field it is, because that would cost each record. Its slower twin does, and
 * reads the bytes once more. The result is the twin's error if it is the same failure. A message that exceeds a bound is not read again,
 * because that would let it cost twice as much.
 */
export function explainedBy(makeTwin: () => ReadPayload): Explain {
  let twin: ReadPayload | null = null;
  return (error, bytes, start, end) => {
    if (!isDecodeError(error) || error.code === "limit-exceeded") {
      return error;
    }
    twin ??= makeTwin();
    try {
      twin(bytes, start, end);
    } catch (again) {
      if (isDecodeError(again) && again.code === error.code) {
        return again;
      }
    }
    return error;
  };
}
