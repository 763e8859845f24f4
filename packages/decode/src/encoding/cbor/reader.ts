import type { DecodeError } from "../../errors.ts";
import type { ResolvedLimits } from "../../options.ts";
import { PlainCursor } from "../plain-cursor.ts";
import { halfFloat } from "./half-float.ts";
import { readTagged } from "./tags.ts";

/*
 * CBOR (RFC 8949, section 3): the first byte is a major type in its upper three bits and an argument in the lower five.
 *
 *   0 unsigned integer    2 byte string    4 array    6 tag: a number that says what the item after it means
 *   1 negative integer    3 text string    5 map      7 floats, true, false, null, undefined, and the "break" ff
 *
 *   argument: 0-23 itself, 24-27 in the next 1, 2, 4 or 8 bytes, 28-30 reserved, 31 of indefinite length (types 2 to 5)
 */

const byteString = 2;
const textString = 3;
const breakByte = 0xff;
const indefinite = 31;

/** Reads all of the bytes as one value. */
export function readCbor(bytes: Buffer, start: number, end: number, limits: ResolvedLimits): unknown {
  const cursor = new PlainCursor("CBOR", bytes, start, end, limits);
  const value = readItem(cursor);
  cursor.expectEnd();
  return value;
}

function readItem(c: PlainCursor): unknown {
  const first = c.uint8();
  if (first < 24) {
    return first;
  }
  const type = first >> 5;
  const info = first & 0x1f;
  switch (type) {
    case 0:
      return readArgument(c, info);
    case 1: {
      const argument = readArgument(c, info);
      return typeof argument === "number" && argument < Number.MAX_SAFE_INTEGER ? -1 - argument : -1n - BigInt(argument);
    }
    case byteString:
      return info === indefinite ? readByteChunks(c) : c.buffer(readLength(c, info));
    case textString:
      return info === indefinite ? readTextChunks(c) : c.text(readLength(c, info));
    case 4:
      return readArray(c, info);
    case 5:
      return readMap(c, info);
    case 6:
      return readTag(c, info);
    default:
      return readSimple(c, info);
  }
}

function readArgument(c: PlainCursor, info: number): number | bigint {
  switch (info) {
    case 24:
      return c.uint8();
    case 25:
      return c.uint16();
    case 26:
      return c.uint32();
    case 27:
      return c.uint64();
    default:
      if (info > 27) {
        throw c.malformed("a reserved argument, or an indefinite length that this type cannot have");
      }
      return info;
  }
}

function readLength(c: PlainCursor, info: number): number {
  return c.checkCount(readArgument(c, info), 1);
}

function readByteChunks(c: PlainCursor): Buffer {
  const chunks: Buffer[] = [];
  c.chunksUntil(isBreak, () => {
    chunks.push(c.buffer(readChunkLength(c, byteString)));
  });
  return Buffer.concat(chunks);
}

function readTextChunks(c: PlainCursor): string {
  let text = "";
  c.chunksUntil(isBreak, () => {
    text += c.text(readChunkLength(c, textString));
  });
  return text;
}

/** The length of a chunk in a string of indefinite length. A chunk is a string of the same type with a known length. */
function readChunkLength(c: PlainCursor, type: number): number {
  const first = c.uint8();
  if (first >> 5 !== type || (first & 0x1f) === indefinite) {
    throw c.malformed("an item other than a chunk of a known length in a string of indefinite length");
  }
  return readLength(c, first & 0x1f);
}

function readArray(c: PlainCursor, info: number): unknown[] {
  return info === indefinite ? c.listUntil(isBreak, readItem) : c.list(readLength(c, info), readItem);
}

function readMap(c: PlainCursor, info: number): unknown {
  return info === indefinite ? c.entriesUntil(isBreak, readItem) : c.entries(c.checkCount(readArgument(c, info), 2), readItem);
}

/** Whether the next byte is the break. If it is, the position moves over it. */
function isBreak(c: PlainCursor): boolean {
  const found = c.position < c.end && c.bytes[c.position] === breakByte;
  if (found) {
    c.position++;
  }
  return found;
}

function readTag(c: PlainCursor, info: number): unknown {
  const tag = readArgument(c, info);
  c.enter();
  const value = readTagged(c, tag, () => readItem(c));
  c.leave();
  return value;
}

function readSimple(c: PlainCursor, info: number): unknown {
  switch (info) {
    case 20:
      return false;
    case 21:
      return true;
    case 22:
    case 23: // undefined
      return null;
    case 25:
      return halfFloat(c.uint16());
    case 26:
      return c.bytes.readFloatBE(c.take(4));
    case 27:
      return c.bytes.readDoubleBE(c.take(8));
    default:
      throw unknownSimple(c, info);
  }
}

function unknownSimple(c: PlainCursor, info: number): DecodeError {
  if (info > 24) {
    return c.malformed(info === indefinite ? "a break outside of an item of indefinite length" : "a reserved simple value");
  }
  const value = info === 24 ? c.uint8() : info;
  return info === 24 && value < 32
    ? c.malformed("a simple value in more bytes than it needs")
    : c.invalid("false, true, null or undefined as a simple value");
}
