import { BlockCopier } from "./block-copier.ts";
import { damaged, tooLarge } from "./output-limit.ts";

/** The header of snappy-java's framing, which every Java producer writes: magic, version, lowest compatible version. */
const xerialMagic: Buffer = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00]);
const xerialHeaderBytes = 16;

/** The length of a longer literal stands after its tag. */
const longestShortLiteral = 60;

/** Unpacks a snappy batch within the limit, raw or in snappy-java's ("xerial") framing. There may be millions of blocks: none gets an object. */
export function unsnappy(bytes: Buffer, maxBytes: number): Buffer {
  const isFramed = isXerialHeader(bytes, 0);
  const forEachBlock = (take: (start: number, end: number) => void): void =>
    isFramed ? forEachXerialBlock(bytes, take) : take(0, bytes.length);
  let total = 0;
  forEachBlock((start, end) => {
    total += uncompressedLength(bytes, start, end);
  });
  if (total > maxBytes) {
    throw tooLarge("snappy", bytes.length, maxBytes);
  }
  const out = Buffer.allocUnsafe(total);
  const copier = new BlockCopier(bytes, out);
  let to = 0;
  forEachBlock((start, end) => {
    to = decodeBlock(bytes, start, end, copier, to);
  });
  return out;
}

/** blocks => [int32 length, bytes]*. If streams were concatenated, there are headers between blocks. */
function forEachXerialBlock(bytes: Buffer, take: (start: number, end: number) => void): void {
  let at = xerialHeaderBytes;
  while (at < bytes.length) {
    if (isXerialHeader(bytes, at)) {
      at += xerialHeaderBytes;
      continue;
    }
    if (at + 4 > bytes.length) {
      throw damaged("snappy", "it ends inside a block length");
    }
    const length = bytes.readUInt32BE(at);
    at += 4;
    if (length > bytes.length - at) {
      throw damaged("snappy", "it ends inside a block");
    }
    take(at, at + length);
    at += length;
  }
}

function isXerialHeader(bytes: Buffer, at: number): boolean {
  return (
    bytes[at] === xerialMagic[0] && at + xerialMagic.length <= bytes.length && xerialMagic.compare(bytes, at, at + xerialMagic.length) === 0
  );
}

/** uvarint32: the uncompressed length of the block from `start` to `end`. */
function uncompressedLength(bytes: Buffer, start: number, end: number): number {
  let value = 0;
  for (let i = 0; i < 5 && start + i < end; i++) {
    const byte = bytes[start + i] as number; // before the end
    value += (byte & 0x7f) * 2 ** (7 * i);
    if (byte < 0x80) {
      return value;
    }
  }
  throw damaged("snappy", "its length is not readable");
}

/**
 * Unpacks the block from `start` to `blockEnd` to `outStart`, and returns where it ends there.
 * elements => literal | copy with a one, two or four byte distance. https://github.com/google/snappy/blob/main/format_description.txt
 */
function decodeBlock(bytes: Buffer, start: number, blockEnd: number, copier: BlockCopier, outStart: number): number {
  const end = outStart + uncompressedLength(bytes, start, blockEnd);
  let from = start;
  while ((bytes[from++] as number) >= 0x80) {} // the length, which was readable
  let to = outStart;
  while (from < blockEnd) {
    const tag = bytes[from++] as number; // before the end
    const kind = tag & 3;
    if (kind === 0) {
      let length = (tag >>> 2) + 1;
      if (length > longestShortLiteral) {
        const lengthBytes = length - longestShortLiteral;
        length = littleEndian(bytes, from, lengthBytes, blockEnd) + 1;
        from += lengthBytes;
      }
      if (length > end - to || length > blockEnd - from) {
        throw damaged("snappy", "a literal is longer than what is left");
      }
      copier.literal(from, to, length);
      from += length;
      to += length;
      continue;
    }
    const distanceBytes = kind === 3 ? 4 : kind;
    const low = littleEndian(bytes, from, distanceBytes, blockEnd);
    from += distanceBytes;
    const length = kind === 1 ? ((tag >>> 2) & 7) + 4 : (tag >>> 2) + 1;
    const distance = kind === 1 ? ((tag >>> 5) << 8) | low : low;
    if (distance === 0 || distance > to - outStart || length > end - to) {
      throw damaged("snappy", "a copy points outside the block");
    }
    copier.match(to, distance, length);
    to += length;
  }
  if (to !== end) {
    throw damaged("snappy", "a block is shorter than it says");
  }
  return to;
}

/** A number of one to four bytes, which must lie before `end`. */
function littleEndian(bytes: Buffer, at: number, count: number, end: number): number {
  if (at + count > end) {
    throw damaged("snappy", "it ends inside an element");
  }
  let value = 0;
  for (let i = count - 1; i >= 0; i--) {
    value = value * 256 + (bytes[at + i] as number); // before the end
  }
  return value;
}
