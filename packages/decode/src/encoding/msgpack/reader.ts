import type { ResolvedLimits } from "../../options.ts";
import { secondsPerDay, timestampText } from "../../values/calendar.ts";
import { PlainCursor } from "../plain-cursor.ts";

/*
 * MessagePack (https://github.com/msgpack/msgpack/blob/master/spec.md), by first byte:
 *
 *   00-7f positive fixint    c0 nil            c7-c9 ext 8, 16, 32     d4-d8 fixext 1, 2, 4, 8, 16
 *   80-8f fixmap             c1 never used     ca    float 32          d9-db str 8, 16, 32
 *   90-9f fixarray           c2 false          cb    float 64          dc-dd array 16, 32
 *   a0-bf fixstr             c3 true           cc-cf uint 8 to 64      de-df map 16, 32
 *   e0-ff negative fixint    c4-c6 bin 8 to 32 d0-d3 int 8 to 64
 */

/** Reads all of the bytes as one value. */
export function readMessagePack(bytes: Buffer, start: number, end: number, limits: ResolvedLimits): unknown {
  const cursor = new PlainCursor("MessagePack", bytes, start, end, limits);
  const value = readValue(cursor);
  cursor.expectEnd();
  return value;
}

function readValue(c: PlainCursor): unknown {
  const first = c.uint8();
  if (first < 0x80) {
    return first;
  }
  if (first >= 0xe0) {
    return first - 0x100;
  }
  if (first >= 0xc0) {
    return readLonger(c, first);
  }
  if (first >= 0xa0) {
    return c.text(first & 0x1f);
  }
  return first >= 0x90 ? readArray(c, first & 0x0f) : readMap(c, first & 0x0f);
}

function readLonger(c: PlainCursor, first: number): unknown {
  switch (first) {
    case 0xc0:
      return null;
    case 0xc1:
      throw c.malformed("the byte c1, which it never uses");
    case 0xc2:
      return false;
    case 0xc3:
      return true;
    case 0xc4:
      return c.buffer(c.uint8());
    case 0xc5:
      return c.buffer(c.uint16());
    case 0xc6:
      return c.buffer(c.uint32());
    case 0xc7:
      return readExtension(c, c.uint8());
    case 0xc8:
      return readExtension(c, c.uint16());
    case 0xc9:
      return readExtension(c, c.uint32());
    case 0xca:
      return c.bytes.readFloatBE(c.take(4));
    case 0xcb:
      return c.bytes.readDoubleBE(c.take(8));
    default:
      return first < 0xd4 ? readInteger(c, first) : readSized(c, first);
  }
}

function readInteger(c: PlainCursor, first: number): number | bigint {
  switch (first) {
    case 0xcc:
      return c.uint8();
    case 0xcd:
      return c.uint16();
    case 0xce:
      return c.uint32();
    case 0xcf:
      return c.uint64();
    case 0xd0:
      return c.bytes.readInt8(c.take(1));
    case 0xd1:
      return c.bytes.readInt16BE(c.take(2));
    case 0xd2:
      return c.bytes.readInt32BE(c.take(4));
    default:
      return c.int64();
  }
}

function readSized(c: PlainCursor, first: number): unknown {
  switch (first) {
    case 0xd9:
      return c.text(c.uint8());
    case 0xda:
      return c.text(c.uint16());
    case 0xdb:
      return c.text(c.uint32());
    case 0xdc:
      return readArray(c, c.uint16());
    case 0xdd:
      return readArray(c, c.uint32());
    case 0xde:
      return readMap(c, c.uint16());
    case 0xdf:
      return readMap(c, c.uint32());
    default:
      return readExtension(c, 1 << (first - 0xd4));
  }
}

function readArray(c: PlainCursor, count: number): unknown[] {
  return c.list(c.checkCount(count, 1), readValue);
}

function readMap(c: PlainCursor, count: number): unknown {
  return c.entries(c.checkCount(count, 2), readValue);
}

const timestampType = -1;

/** A timestamp becomes ISO 8601 text. An extension that an application defined becomes its type and its bytes. */
function readExtension(c: PlainCursor, length: number): unknown {
  const type = c.bytes.readInt8(c.take(1));
  if (type !== timestampType) {
    c.convert();
    return { type, data: c.buffer(length) };
  }
  c.convert();
  switch (length) {
    case 4:
      return instantText(c, c.uint32(), 0);
    case 8: {
      const high = c.uint32(); // 30 bits of nanoseconds, then the upper 2 of 34 bits of seconds
      return instantText(c, (high & 3) * 4_294_967_296 + c.uint32(), high >>> 2);
    }
    case 12: {
      const nanos = c.uint32();
      return instantText(c, c.int64(), nanos);
    }
    default:
      throw c.invalid("a timestamp of 4, 8 or 12 bytes");
  }
}

function instantText(c: PlainCursor, seconds: number | bigint, nanos: number): string {
  if (typeof seconds === "bigint" || nanos > 999_999_999) {
    throw c.invalid("a timestamp within 2^53 seconds of the epoch, of less than 10^9 nanoseconds");
  }
  const days = Math.floor(seconds / secondsPerDay);
  return `${timestampText(days, seconds - days * secondsPerDay, nanos)}Z`;
}
