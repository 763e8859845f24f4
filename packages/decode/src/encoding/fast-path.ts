import { isDecodeError } from "../errors.ts";
import type { ColumnHints } from "./reader.ts";

/**
 * What a reader offers the fast path: it reads every message that begins with `prefix`, or misses. Nothing else of such a message has to
 * be looked at.
 */
export interface FastPathMatch {
  /** An id and a choice of message, the whole text of a schema, or a brace. */
  readonly prefix: Buffer;
  /**
   * How the messages that the reader takes begin, if they have more in common than the prefix: no framing may claim what begins so.
   * @default the prefix
   */
  readonly head?: Buffer;
  readonly reader: FastPathReader;
  /** The semantics that it reads columns with; null if the schema states all there are. */
  readonly columns: ColumnHints | null;
}

export interface FastPathReader {
  /** The value after the prefix; {@link fastPathMiss} if only the slow path tells what it is. Throws a `DecodeError`. */
  read(bytes: Buffer, start: number, end: number): unknown;
}

/** Returned for a message that has to take the slow path. */
export const fastPathMiss: unique symbol = Symbol("fast path miss");

/** The same reader for messages that the slow path may read in another way: an error is a miss. */
export function orFastPathMiss(read: FastPathReader["read"]): FastPathReader["read"] {
  return (bytes, start, end) => {
    try {
      return read(bytes, start, end);
    } catch (error) {
      if (!isDecodeError(error)) {
        throw error;
      }
      return fastPathMiss;
    }
  };
}
