import { isDecodeError } from "../errors.ts";
import type { ColumnHints } from "./reader.ts";

/** A reader's offer to the fast path: it reads messages that begin with `prefix`, or misses. The fast path compares only the prefix. */
export interface FastPathMatch {
  /** The bytes of a schema id and a message index, the whole text of a schema, or a brace. */
  readonly prefix: Buffer;
  /**
   * The common beginning of all messages that the reader takes, if it is longer than the prefix. No framing may claim a message that begins
   * like this.
   * @default the prefix
   */
  readonly head?: Buffer;
  readonly reader: FastPathReader;
  /** The semantics of the columns that it reads; null if the schema declares all of them. */
  readonly columns: ColumnHints | null;
}

export interface FastPathReader {
  /** The value after the prefix, or {@link fastPathMiss} if the slow path must read the message. Throws a `DecodeError`. */
  read(bytes: Buffer, start: number, end: number): unknown;
}

/** What a fast path reader returns for a message that must take the slow path. */
export const fastPathMiss: unique symbol = Symbol("fast path miss");

/** Makes a reader that misses on an error, for messages that the slow path may be able to read. */
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
