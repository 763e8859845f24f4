import { DecodeError } from "../../errors.ts";
import type { Payload } from "../framing.ts";
import { tooLarge, unpack, unpackLimit } from "../unpack.ts";
import { readZigZag, type Varint } from "../varint.ts";
import { unsnappy } from "./snappy.ts";

const syncLength = 16;
const maxValues = 2_147_483_647;

/** The header of a container file. */
export interface FileHeader {
  readonly codec: string;
  readonly sync: Buffer;
  /** Where the first block begins. */
  readonly next: number;
}

/**
 * Reads the blocks of a container file: `count: long | size: long | bytes | sync marker` until the end. The limit for unpacked bytes counts
 * for all blocks together, so that a file cannot unpack to more than one message may.
 */
export function readBlocks(bytes: Buffer, header: FileHeader, end: number, maxBytes: number): readonly Payload[] {
  const payloads: Payload[] = [];
  let room = unpackLimit(end - header.next, maxBytes);
  for (let at = header.next; at < end; ) {
    const count = longAt(bytes, at, end, "the number of values of a block");
    const size = longAt(bytes, count.next, end, "the size of a block");
    const blockEnd = size.next + size.value;
    if (count.value > maxValues || blockEnd + syncLength > end) {
      throw truncated("a block and its sync marker");
    }
    if (!isSync(header.sync, bytes, blockEnd)) {
      throw new DecodeError(
        "malformed",
        "expected the sync marker of the container file after a block, found other bytes; check whether the file is damaged",
      );
    }
    at = blockEnd + syncLength;
    if (count.value > 0 || size.value > 0 || payloads.length === 0) {
      const payload = unpackBlock(bytes, size.next, blockEnd, count.value, header.codec, room);
      room -= payload.bytes === bytes ? 0 : payload.end;
      payloads.push(payload);
    } // an empty block is left out: a MiB of empty blocks would give 55,000 payloads
  }
  return payloads;
}

/** A loop compares 16 bytes faster than a call to `Buffer.compare`. */
function isSync(sync: Buffer, bytes: Buffer, at: number): boolean {
  for (let i = 0; i < syncLength; i++) {
    if (bytes[at + i] !== sync[i]) {
      return false;
    }
  }
  return true;
}

function unpackBlock(bytes: Buffer, start: number, end: number, count: number, codec: string, room: number): Payload {
  if (codec === "null") {
    return { bytes, start, end, count };
  }
  const packed = bytes.subarray(start, end);
  if (room <= 0) {
    throw tooLarge(codec, packed.length, 0);
  }
  const unpacked = unpackWith(codec, packed, room);
  return { bytes: unpacked, start: 0, end: unpacked.length, count };
}

function unpackWith(codec: string, packed: Buffer, room: number): Buffer {
  switch (codec) {
    case "deflate":
    case "zstandard":
      return unpack(codec, packed, room);
    case "snappy":
      return unsnappy(packed, room);
    default:
      throw new DecodeError(
        "unsupported-format",
        `expected an Avro container file of codec null, deflate, snappy or zstandard, found ${/^[a-z0-9]{1,20}$/.test(codec) ? codec : "another"}; set one of these on the writer`,
      );
  }
}

/** A count or size: an Avro long that is not negative. */
export function longAt(bytes: Buffer, at: number, end: number, what: string): Varint {
  const read = readZigZag(bytes, at, end);
  if (read === null) {
    throw truncated(what);
  }
  if (read.value < 0) {
    throw new DecodeError(
      "malformed",
      `expected ${what} of an Avro container file, found a negative number; check whether the file is damaged`,
    );
  }
  return read;
}

export function truncated(what: string): DecodeError {
  return new DecodeError(
    "truncated",
    `expected ${what} of an Avro container file, found the end of the bytes; check whether the file was cut`,
  );
}
