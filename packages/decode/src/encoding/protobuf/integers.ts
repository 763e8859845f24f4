import {
  type Cursor,
  readFixed32,
  readFixed64,
  readInt32,
  readInt64,
  readSfixed32,
  readSfixed64,
  readSint32,
  readSint64,
  readUint32,
  readUint64,
} from "./cursor.ts";
import type { IntegerName } from "./read-instructions.ts";

/** The function that reads each kind of integer. */
export const integerReaders: Readonly<Record<IntegerName, (at: Cursor, b: Uint8Array, p: number, e: number) => number | bigint>> = {
  int32: readInt32,
  sint32: readSint32,
  uint32: readUint32,
  int64: readInt64,
  sint64: readSint64,
  uint64: readUint64,
  fixed32: readFixed32,
  sfixed32: readSfixed32,
  fixed64: readFixed64,
  sfixed64: readSfixed64,
};
