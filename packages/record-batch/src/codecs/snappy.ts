import { BlockCopier } from "./block-copier.ts";
import { damaged, tooLarge } from "./output-limit.ts";

/** The header of snappy-java's framing, which every Java producer writes: magic, version, lowest compatible version. */
const xerialMagic: Buffer = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00]);
const xerialHeaderBytes = 16;

/** The length of a longer literal stands after its tag. */
const longestShortLiteral = 60;

/** Unpacks a snappy batch within the limit, raw or in snappy-java's ("xerial") framing. */
export function unsnappy(bytes: Buffer, maxBytes: number): Buffer {
  const blocks = bytes.subarray(0, xerialMagic.length).equals(xerialMagic) ? xerialBlocks(bytes) : [bytes];
  const lengths = blocks.map((block) => uncompressedLength(block).value);
  const total = lengths.reduce((sum, length) => sum + length, 0);
  if (total > maxBytes) {
    throw tooLarge("snappy", bytes.length, maxBytes);
  }
  const out = Buffer.allocUnsafe(total);
  let at = 0;
  for (const [i, block] of blocks.entries()) {
    const end = at + (lengths[i] ?? 0);
    decodeBlock(block, out, at, end);
    at = end;
  }
  return out;
}

/** blocks => [int32 length, bytes]*. If streams were concatenated, there are headers between blocks. */
function xerialBlocks(bytes: Buffer): Buffer[] {
  const blocks: Buffer[] = [];
  let at = xerialHeaderBytes;
  while (at < bytes.length) {
    if (bytes.subarray(at, at + xerialMagic.length).equals(xerialMagic)) {
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
    blocks.push(bytes.subarray(at, at + length));
    at += length;
  }
  return blocks;
}

/** uvarint32: the uncompressed length of the block. */
function uncompressedLength(block: Buffer): { readonly value: number; readonly bytes: number } {
  let value = 0;
  for (let i = 0; i < 5; i++) {
    const byte = block[i];
    if (byte === undefined) {
      break;
    }
    value += (byte & 0x7f) * 2 ** (7 * i);
    if (byte < 0x80) {
      return { value, bytes: i + 1 };
    }
  }
  throw damaged("snappy", "its length is not readable");
}

/** elements => literal | copy with a one, two or four byte distance. https://github.com/google/snappy/blob/main/format_description.txt */
function decodeBlock(block: Buffer, out: Buffer, start: number, end: number): void {
  const copier = new BlockCopier(block, out);
  let from = uncompressedLength(block).bytes;
  let to = start;
  while (from < block.length) {
    const tag = block[from++] as number; // before the end
    const kind = tag & 3;
    if (kind === 0) {
      let length = (tag >>> 2) + 1;
      if (length > longestShortLiteral) {
        const bytes = length - longestShortLiteral;
        length = littleEndian(block, from, bytes) + 1;
        from += bytes;
      }
      if (length > end - to || length > block.length - from) {
        throw damaged("snappy", "a literal is longer than what is left");
      }
      copier.literal(from, to, length);
      from += length;
      to += length;
      continue;
    }
    const bytes = kind === 3 ? 4 : kind;
    const low = littleEndian(block, from, bytes);
    from += bytes;
    const length = kind === 1 ? ((tag >>> 2) & 7) + 4 : (tag >>> 2) + 1;
    const distance = kind === 1 ? ((tag >>> 5) << 8) | low : low;
    if (distance === 0 || distance > to - start || length > end - to) {
      throw damaged("snappy", "a copy points outside the block");
    }
    copier.match(to, distance, length);
    to += length;
  }
  if (to !== end) {
    throw damaged("snappy", "a block is shorter than it says");
  }
}

/** A number of one to four bytes. */
function littleEndian(block: Buffer, at: number, bytes: number): number {
  if (at + bytes > block.length) {
    throw damaged("snappy", "it ends inside an element");
  }
  let value = 0;
  for (let i = bytes - 1; i >= 0; i--) {
    value = value * 256 + (block[at + i] as number); // before the end
  }
  return value;
}
