const frameMagic = 0xfd2fb528;
const firstSkippableMagic = 0x184d2a50;
const compressedBlock = 2;
const rleBlock = 1;
const reservedBlock = 3;
/** A compressed block does not say what it becomes. This is the most that the format allows. */
const maxBlockBytes = 128 * 1024;
/** Of the descriptor. */
const reservedFlag = 0x08;
/** Magic and descriptor. */
const fixedHeaderBytes = 5;

/** What a frame says of itself. */
export interface ZstdFrame {
  readonly start: number;
  readonly end: number;
  /** Where its blocks begin and end. */
  readonly blocksAt: number;
  readonly blocksEnd: number;
  /** How many bytes of its output a reader has to remember. Readers may take so much memory before they read a block. */
  readonly windowBytes: number;
  /** What it becomes, as it says itself. Null if it does not. */
  readonly contentBytes: number | null;
  readonly needsDictionary: boolean;
  /** What it becomes at most, by what its blocks say. */
  readonly maxOutputBytes: number;
}

/**
 * The zstd frames of these bytes, without skippable ones. Null if the bytes are not complete frames and nothing more. Walks from block to block
 * without reading them.
 * Frame => magic, header, Block..., checksum?; https://www.rfc-editor.org/rfc/rfc8878#section-3.1.1
 */
export function zstdFrames(bytes: Buffer): readonly ZstdFrame[] | null {
  const frames: ZstdFrame[] = [];
  let at = 0;
  do {
    const skippedTo = endOfSkippable(bytes, at);
    const frame = skippedTo === null ? frameAt(bytes, at) : null;
    if (frame !== null) {
      frames.push(frame);
    }
    at = skippedTo ?? frame?.end ?? Number.POSITIVE_INFINITY;
  } while (at < bytes.length);
  return at === bytes.length ? frames : null;
}

/** Skippable_Frame => magic, size, content. Null if there is none. */
function endOfSkippable(bytes: Buffer, start: number): number | null {
  const isSkippable = start + 8 <= bytes.length && bytes.readUInt32LE(start) >>> 4 === firstSkippableMagic >>> 4;
  return isSkippable ? start + 8 + bytes.readUInt32LE(start + 4) : null;
}

/** Frame_Header => descriptor, Window_Descriptor?, Dictionary_ID?, Frame_Content_Size?. The descriptor says which there are, and their lengths. */
function frameAt(bytes: Buffer, start: number): ZstdFrame | null {
  if (start + 8 > bytes.length || bytes.readUInt32LE(start) !== frameMagic) {
    return null;
  }
  const descriptor = bytes.readUInt8(start + 4);
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3] ?? 0;
  const contentSizeBytes = [isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >>> 6] ?? 0;
  const contentSizeAt = start + fixedHeaderBytes + (isSingleSegment ? 0 : 1) + dictionaryBytes;
  const blocksAt = contentSizeAt + contentSizeBytes;
  const isKnown = (descriptor & reservedFlag) === 0 && blocksAt <= bytes.length;
  const blocks = isKnown ? overBlocks(bytes, blocksAt) : null;
  if (blocks === null) {
    return null;
  }
  const contentBytes = contentSizeBytes === 0 ? null : contentSizeOf(bytes, contentSizeAt, contentSizeBytes);
  return {
    start,
    end: blocks.end + ((descriptor & 4) === 0 ? 0 : 4), // a checksum
    blocksAt,
    blocksEnd: blocks.end,
    // The window of a single segment is its whole output.
    windowBytes: isSingleSegment && contentBytes !== null ? contentBytes : windowOf(bytes.readUInt8(start + fixedHeaderBytes)),
    contentBytes,
    needsDictionary: dictionaryBytes > 0 && bytes.readUIntLE(contentSizeAt - dictionaryBytes, dictionaryBytes) !== 0,
    maxOutputBytes: blocks.maxOutputBytes,
  };
}

function windowOf(descriptor: number): number {
  const base = 2 ** (10 + (descriptor >>> 3));
  return base + (base / 8) * (descriptor & 7);
}

function contentSizeOf(bytes: Buffer, at: number, size: number): number {
  if (size === 8) {
    return Number(bytes.readBigUInt64LE(at));
  }
  return bytes.readUIntLE(at, size) + (size === 2 ? 256 : 0);
}

/** Block => Block_Header (24 bits: last, type of 2 bits, size of 21 bits), content. Null if the last one does not come. */
function overBlocks(bytes: Buffer, start: number): { readonly end: number; readonly maxOutputBytes: number } | null {
  let at = start;
  let maxOutputBytes = 0;
  while (at + 3 <= bytes.length) {
    const header = bytes.readUIntLE(at, 3);
    const type = (header >>> 1) & 3;
    if (type === reservedBlock) {
      return null;
    }
    const size = header >>> 3;
    maxOutputBytes += type === compressedBlock ? maxBlockBytes : size;
    at += 3 + (type === rleBlock ? 1 : size);
    if ((header & 1) === 1) {
      return { end: at, maxOutputBytes };
    }
  }
  return null;
}
