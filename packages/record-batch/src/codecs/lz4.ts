import { GrowingOutput } from "./growing-output.ts";
import { damaged } from "./output-limit.ts";

const frameMagic = 0x184d2204;
const uncompressedFlag = 0x80000000;
/** A length with this value goes on after the token. */
const longLength = 15;
const shortestMatch = 4;
/** Largest block by the code in the frame's BD byte; codes below 4 are reserved. */
const blockSizes: Readonly<Record<number, number>> = { 4: 65_536, 5: 262_144, 6: 1_048_576, 7: 4_194_304 };

interface FrameHeader {
  readonly bytes: number;
  readonly maxBlockBytes: number;
  /** Matches may refer to earlier blocks. */
  readonly linked: boolean;
  readonly blockChecksums: boolean;
  readonly contentChecksum: boolean;
}

/**
 * Unpacks LZ4 frames within the limit. Checksums are not verified: Kafka's producers write only the header's, and older producers wrote it
 * wrongly.
 */
export function unlz4(bytes: Buffer, maxBytes: number): Buffer {
  const output = new GrowingOutput("lz4", bytes.length, maxBytes);
  let at = 0;
  while (at < bytes.length) {
    at = decodeFrame(bytes, at, output);
  }
  return output.take();
}

/** frame => header, [uint32 size, bytes, checksum?]*, uint32 0, checksum?. Returns the end of the frame. */
function decodeFrame(bytes: Buffer, start: number, output: GrowingOutput): number {
  const header = readHeader(bytes, start);
  const frameStart = output.length;
  let at = start + header.bytes;
  for (;;) {
    const size = readUint32(bytes, at);
    at += 4;
    if (size === 0) {
      return at + (header.contentChecksum ? 4 : 0);
    }
    const length = size % uncompressedFlag;
    if (length > bytes.length - at) {
      throw damaged("lz4", "it ends inside a block");
    }
    if (size >= uncompressedFlag) {
      copyBlock(bytes, at, length, output, header);
    } else {
      decodeBlock(bytes, at, at + length, output, header, header.linked ? frameStart : output.length);
    }
    at += length + (header.blockChecksums ? 4 : 0);
  }
}

function readHeader(bytes: Buffer, start: number): FrameHeader {
  if (readUint32(bytes, start) !== frameMagic) {
    throw damaged("lz4", "it does not start as an LZ4 frame");
  }
  const flags = byteAt(bytes, start + 4, bytes.length);
  const maxBlockBytes = blockSizes[(byteAt(bytes, start + 5, bytes.length) >>> 4) & 7];
  if (flags >>> 6 !== 1 || maxBlockBytes === undefined) {
    throw damaged("lz4", "its frame has a version or block size that does not exist");
  }
  if ((flags & 1) !== 0) {
    throw damaged("lz4", "it needs a dictionary, which Kafka does not have");
  }
  const sized = (flags & 0x08) !== 0;
  return {
    bytes: sized ? 15 : 7,
    maxBlockBytes,
    linked: (flags & 0x20) === 0,
    blockChecksums: (flags & 0x10) !== 0,
    contentChecksum: (flags & 0x04) !== 0,
  };
}

function copyBlock(bytes: Buffer, at: number, length: number, output: GrowingOutput, header: FrameHeader): void {
  const end = output.reserve(header.maxBlockBytes);
  if (length > end - output.length) {
    throw output.overflow(end);
  }
  output.copierFrom(bytes).literal(at, output.length, length);
  output.length += length;
}

/** sequence => token, literal length?, literals, [distance, match length?]; the last one ends after its literals. */
function decodeBlock(bytes: Buffer, start: number, blockEnd: number, output: GrowingOutput, header: FrameHeader, earliest: number): void {
  const end = output.reserve(header.maxBlockBytes);
  const copier = output.copierFrom(bytes);
  let to = output.length;
  let from = start;
  while (from < blockEnd) {
    const token = bytes[from++] as number; // before the end
    let literals = token >>> 4;
    if (literals === longLength) {
      literals += lengthAt(bytes, from, blockEnd);
      from += lengthBytes(literals - longLength);
    }
    if (literals > blockEnd - from) {
      throw damaged("lz4", "literals are longer than what is left");
    }
    if (literals > end - to) {
      throw output.overflow(end);
    }
    copier.literal(from, to, literals);
    from += literals;
    to += literals;
    if (from === blockEnd) {
      break;
    }
    const distance = byteAt(bytes, from, blockEnd) | (byteAt(bytes, from + 1, blockEnd) << 8);
    from += 2;
    let length = token & 15;
    if (length === longLength) {
      length += lengthAt(bytes, from, blockEnd);
      from += lengthBytes(length - longLength);
    }
    length += shortestMatch;
    if (distance === 0 || distance > to - earliest) {
      throw damaged("lz4", "a match points outside the frame");
    }
    if (length > end - to) {
      throw output.overflow(end);
    }
    copier.match(to, distance, length);
    to += length;
  }
  output.length = to;
}

/** Bytes are added up until one is not 255. */
function lengthAt(bytes: Buffer, start: number, end: number): number {
  let value = 0;
  for (let at = start; ; at++) {
    const byte = byteAt(bytes, at, end);
    value += byte;
    if (byte !== 255) {
      return value;
    }
  }
}

/** How many bytes such a length takes. */
function lengthBytes(value: number): number {
  return Math.floor(value / 255) + 1;
}

function readUint32(bytes: Buffer, at: number): number {
  if (at + 4 > bytes.length) {
    throw damaged("lz4", "it ends too early");
  }
  return bytes.readUInt32LE(at);
}

/** The byte at this place, which must stand before `end`. */
function byteAt(bytes: Buffer, at: number, end: number): number {
  if (at >= end) {
    throw damaged("lz4", "it ends inside a sequence");
  }
  return bytes[at] as number; // before the end, which is one of the bytes
}
