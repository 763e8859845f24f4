import { crc32 } from "node:zlib";
import { DecodeError } from "../../errors.ts";
import { tooLarge } from "../unpack.ts";
import { readVarint } from "../varint.ts";

const checksumLength = 4;

/** Unpacks a block of a container file: raw snappy, then the CRC-32 of the unpacked bytes, big-endian. */
export function unsnappy(bytes: Buffer, limit: number): Buffer {
  const end = bytes.length - checksumLength;
  const length = readVarint(bytes, 0, end);
  if (length === null) {
    throw new DecodeError("malformed", "expected a snappy block to begin with its length, found none; check whether the file is damaged");
  }
  if (length.value > limit) {
    throw tooLarge("snappy", bytes.length, limit);
  }
  const out = Buffer.allocUnsafe(length.value);
  fill(out, bytes, length.next, end);
  if (crc32(out) !== bytes.readUInt32BE(end)) {
    throw new DecodeError(
      "malformed",
      "expected a snappy block to match its checksum, found another checksum; check whether the file is damaged",
    );
  }
  return out;
}

/** elements => literal | copy with a one, two or four byte distance. https://github.com/google/snappy/blob/main/format_description.txt */
function fill(out: Buffer, bytes: Buffer, from: number, end: number): void {
  let to = 0;
  while (from < end) {
    const tag = bytes[from++] as number;
    const kind = tag & 3;
    if (kind === 0) {
      const extra = Math.max(0, (tag >>> 2) - 59);
      const length = 1 + (extra === 0 ? tag >>> 2 : numberAt(bytes, from, extra, end));
      from += extra;
      check(length <= out.length - to && length <= end - from, "a literal is longer than the rest of the block");
      bytes.copy(out, to, from, from + length);
      from += length;
      to += length;
      continue;
    }
    const length = kind === 1 ? ((tag >>> 2) & 7) + 4 : (tag >>> 2) + 1;
    const distance = kind === 1 ? ((tag >>> 5) << 8) | numberAt(bytes, from, 1, end) : numberAt(bytes, from, kind === 2 ? 2 : 4, end);
    from += kind === 3 ? 4 : kind;
    check(distance > 0 && distance <= to && length <= out.length - to, "a copy points outside of the block");
    for (const stop = to + length; to < stop; to++) {
      out[to] = out[to - distance] as number; // source and target may overlap: in that case the bytes repeat
    }
  }
  check(to === out.length, "it is shorter than its stated length");
}

/** A little-endian number. */
function numberAt(bytes: Buffer, at: number, length: number, end: number): number {
  check(length <= end - at, "it ends inside an element");
  return bytes.readUIntLE(at, length);
}

function check(isRight: boolean, wrong: string): void {
  if (!isRight) {
    throw new DecodeError("malformed", `expected a whole snappy block, found that ${wrong}; check whether the file is damaged`);
  }
}
