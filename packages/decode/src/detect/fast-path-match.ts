import type { ColumnHints } from "../encoding/json/learn.ts";
import { isDecodeError } from "../errors.ts";

/**
 * Which messages are written as one that was read: those that begin with the same bytes (an id and a choice of message, the whole text of a
 * schema, a brace), as far as the reader takes them. Nothing else of them needs to be looked at.
 */
export interface FastPathMatch {
  readonly prefix: Buffer;
  readonly reader: FastPathReader;
  /** The meanings that it reads columns with; null where the schema states all there are. */
  readonly columns: ColumnHints | null;
}

export interface FastPathReader {
  /** The value behind the prefix; {@link fastPathMiss} where only the slow path tells what it is. Throws a `DecodeError`. */
  read(bytes: Buffer, start: number, end: number): unknown;
}

/** Returned for a message that is not like the one that was read. */
export const fastPathMiss: unique symbol = Symbol("fast path miss");

/** Where one way of reading has failed, the slow path may know another. */
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
