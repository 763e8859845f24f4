import { corrupt } from "./zstd-bits.ts";
import { type HuffmanTable, readHuffmanTable, unpackHuffman } from "./zstd-huffman.ts";

/** The literals of a block, the codes that the next block may use again, and where they end in the block. */
export interface Literals {
  readonly bytes: Buffer;
  readonly huffman: HuffmanTable | null;
  readonly end: number;
}

/** The types of literals. The fourth one, treeless, has the codes of a block before. */
const raw = 0;
const rle = 1;
const compressed = 2;
/** Four streams begin with the lengths of three of them. */
const jumpBytes = 6;

interface Header {
  readonly type: number;
  /** What they become. */
  readonly size: number;
  readonly packedBytes: number;
  readonly streams: 1 | 4;
  /** Where the literals begin. */
  readonly start: number;
}

/** Literals_Section => header, codes?, jump table?, streams. https://www.rfc-editor.org/rfc/rfc8878#section-3.1.1.3.1 */
export function readLiterals(bytes: Buffer, at: number, end: number, known: HuffmanTable | null, maxBytes: number): Literals {
  const header = readHeader(bytes, at, end);
  const { type, size, start, packedBytes } = header;
  const literalsEnd = start + packedBytes;
  if (size > maxBytes || literalsEnd > end) {
    throw corrupt("literals are longer than their block");
  }
  if (type === raw) {
    return { bytes: bytes.subarray(start, literalsEnd), huffman: known, end: literalsEnd };
  }
  const literals = Buffer.allocUnsafe(size);
  if (type === rle) {
    return { bytes: literals.fill(bytes[start] as number), huffman: known, end: literalsEnd };
  }
  const described = type === compressed ? readHuffmanTable(bytes, start, literalsEnd) : { table: known, end: start };
  if (described.table === null) {
    throw corrupt("a block repeats codes that no block before it has");
  }
  unpackStreams(described.table, bytes, described.end, literalsEnd, literals, header.streams);
  return { bytes: literals, huffman: described.table, end: literalsEnd };
}

function unpackStreams(table: HuffmanTable, bytes: Buffer, start: number, end: number, out: Buffer, streams: 1 | 4): void {
  if (streams === 1) {
    unpackHuffman(table, bytes, start, end, out);
    return;
  }
  if (end - start < jumpBytes) {
    throw corrupt("literals end too early");
  }
  const part = (out.length + 3) >> 2;
  let from = start + jumpBytes;
  for (let i = 0; i < 4; i++) {
    const to = i === 3 ? end : from + bytes.readUInt16LE(start + 2 * i);
    if (to > end) {
      throw corrupt("literals end too early");
    }
    unpackHuffman(table, bytes, from, to, out.subarray(i * part, i === 3 ? out.length : (i + 1) * part));
    from = to;
  }
}

/** The sizes take 5, 12 or 20 bits where there is one of them, and 10, 14 or 18 each where there are two. */
function readHeader(bytes: Buffer, at: number, end: number): Header {
  const byte = (i: number): number => (at + i < end ? (bytes[at + i] as number) : 0);
  const type = byte(0) & 3;
  const format = (byte(0) >> 2) & 3;
  if (type === raw || type === rle) {
    const sizeBytes = (format & 1) === 0 ? 1 : format === 1 ? 2 : 3;
    const size = sizeBytes === 1 ? byte(0) >> 3 : (byte(0) >> 4) + byte(1) * 16 + (sizeBytes === 3 ? byte(2) * 4_096 : 0);
    return { type, size, packedBytes: type === raw ? size : 1, streams: 1, start: at + sizeBytes };
  }
  const sizeBits = [10, 10, 14, 18][format] as number; // there are four formats
  const sizes =
    (byte(0) >> 4) + byte(1) * 2 ** 4 + byte(2) * 2 ** 12 + (format > 1 ? byte(3) * 2 ** 20 : 0) + (format > 2 ? byte(4) * 2 ** 28 : 0);
  return {
    type,
    size: sizes % 2 ** sizeBits,
    packedBytes: Math.floor(sizes / 2 ** sizeBits),
    streams: format === 0 ? 1 : 4,
    start: at + (format < 2 ? 3 : format + 2),
  };
}
