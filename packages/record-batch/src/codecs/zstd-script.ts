import { GrowingOutput } from "./growing-output.ts";
import { corrupt } from "./zstd-bits.ts";
import type { HuffmanTable } from "./zstd-huffman.ts";
import { readLiterals } from "./zstd-literals.ts";
import { type ZstdFrame, zstdFrames } from "./zstd-frames.ts";
import { readSequences, type SequenceTables } from "./zstd-sequences.ts";

const rawBlock = 0;
const rleBlock = 1;
/** What a compressed block becomes at most. */
const maxBlockBytes = 128 * 1024;

/**
 * Unpacks zstd frames by code of this package, for a Node without zstd where WebAssembly cannot be had, and for batches that it is not given. It takes
 * time by the bytes that come in and go out, whatever they claim, and no memory for windows. Checksums are not looked at: the batch has one.
 */
export function unzstdInScript(bytes: Buffer, maxBytes: number): Buffer {
  const frames = zstdFrames(bytes);
  if (frames === null) {
    throw corrupt("it is cut, or holds bytes that are no zstd frame");
  }
  const output = new GrowingOutput("zstd", bytes.length, maxBytes);
  for (const frame of frames) {
    unpackFrame(bytes, frame, output);
  }
  return output.take();
}

/** What blocks of a frame have in common. */
interface FrameState {
  /** Where the frame begins in the output: no match reaches beyond. */
  readonly start: number;
  huffman: HuffmanTable | null;
  tables: SequenceTables | null;
  /** The last three offsets, the last one first. */
  readonly offsets: [number, number, number];
}

function unpackFrame(bytes: Buffer, { blocksAt, blocksEnd, contentBytes }: ZstdFrame, output: GrowingOutput): void {
  const frame: FrameState = { start: output.length, huffman: null, tables: null, offsets: [1, 4, 8] };
  for (let at = blocksAt; at < blocksEnd; ) {
    const header = bytes.readUIntLE(at, 3);
    const type = (header >>> 1) & 3;
    const size = header >>> 3;
    at += 3;
    if (type === rawBlock || type === rleBlock) {
      output.checkLimit(size);
      output.reserve(size);
      if (type === rawBlock) {
        bytes.copy(output.buffer, output.length, at, at + size);
      } else {
        output.buffer.fill(bytes[at] as number, output.length, output.length + size);
      }
      output.length += size;
    } else {
      unpackBlock(bytes, at, at + size, frame, output);
    }
    at += type === rleBlock ? 1 : size;
  }
  if (contentBytes !== null && output.length - frame.start !== contentBytes) {
    throw corrupt("a frame does not become as many bytes as it says");
  }
}

function unpackBlock(bytes: Buffer, start: number, end: number, frame: FrameState, output: GrowingOutput): void {
  const literals = readLiterals(bytes, start, end, frame.huffman, maxBlockBytes);
  frame.huffman = literals.huffman;
  output.reserve(maxBlockBytes);
  const blockEnd = output.length + maxBlockBytes;
  const copier = output.copierFrom(literals.bytes);
  let from = 0;
  const copyLiterals = (length: number): void => {
    if (length > literals.bytes.length - from || length > blockEnd - output.length) {
      throw corrupt("a block takes more literals than it has, or becomes larger than a block may");
    }
    output.checkLimit(length);
    copier.literal(from, output.length, length);
    from += length;
    output.length += length;
  };
  frame.tables = readSequences(bytes, literals.end, end, frame.tables, (literalLength, offsetCode, matchLength) => {
    copyLiterals(literalLength);
    const distance = distanceOf(offsetCode, literalLength === 0, frame.offsets);
    if (distance < 1 || distance > output.length - frame.start || matchLength > blockEnd - output.length) {
      throw corrupt("a match points outside of the frame, or is longer than a block may be");
    }
    output.checkLimit(matchLength);
    copier.match(output.length, distance, matchLength);
    output.length += matchLength;
  });
  copyLiterals(literals.bytes.length - from);
}

/** The codes 1 to 3 mean one of the last three offsets, and others one that becomes the last. https://www.rfc-editor.org/rfc/rfc8878#section-3.1.1.5 */
function distanceOf(code: number, isWithoutLiterals: boolean, offsets: [number, number, number]): number {
  const [first, second, third] = offsets;
  if (code > 3) {
    offsets[2] = second;
    offsets[1] = first;
    offsets[0] = code - 3;
    return code - 3;
  }
  const which = isWithoutLiterals ? code + 1 : code;
  if (which === 1) {
    return first;
  }
  const distance = which === 2 ? second : which === 3 ? third : first - 1;
  if (which > 2) {
    offsets[2] = second;
  }
  offsets[1] = first;
  offsets[0] = distance;
  return distance;
}
