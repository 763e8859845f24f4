const frameMagic = 0xfd2fb528;
const firstSkippableMagic = 0x184d2a50;
const compressedBlock = 2;
const runLengthBlock = 1;
const reservedBlock = 3;
/** A compressed block does not say what it becomes. This is the most that the format allows. */
const maxBlockBytes = 128 * 1024;

/** Where the walk over the frames is, and what they become at most up to there. */
interface Walk {
  /** The place after the frames that were walked, or -1 if one is not complete. */
  at: number;
  outputBytes: number;
}

/**
 * The number of bytes that zstd frames become at most, by what their blocks say. Null if the bytes are not complete frames and nothing more.
 * Walks from block to block without reading them.
 * Frame => magic, header, Block..., checksum?; https://www.rfc-editor.org/rfc/rfc8878#section-3.1.1
 */
export function outputBound(bytes: Buffer): number | null {
  const walk: Walk = { at: 0, outputBytes: 0 };
  do {
    overFrame(bytes, walk);
  } while (walk.at !== -1 && walk.at < bytes.length);
  return walk.at === bytes.length ? walk.outputBytes : null;
}

function overFrame(bytes: Buffer, walk: Walk): void {
  const start = walk.at;
  walk.at = -1;
  if (start + 8 > bytes.length) {
    return;
  }
  const magic = bytes.readUInt32LE(start);
  if (magic >>> 4 === firstSkippableMagic >>> 4) {
    walk.at = start + 8 + bytes.readUInt32LE(start + 4);
  } else if (magic === frameMagic) {
    const descriptor = bytes.readUInt8(start + 4);
    const hasChecksum = (descriptor & 4) !== 0;
    overBlocks(bytes, start + 5 + headerBytes(descriptor), walk);
    walk.at += walk.at !== -1 && hasChecksum ? 4 : 0;
  }
}

/** Window_Descriptor?, Dictionary_ID?, Frame_Content_Size?. The descriptor before them says which ones there are, and their lengths. */
function headerBytes(descriptor: number): number {
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3] ?? 0;
  const contentSizeBytes = [isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >>> 6] ?? 0;
  return (isSingleSegment ? 0 : 1) + dictionaryBytes + contentSizeBytes;
}

/** Block => Block_Header (24 bits: last, type of 2 bits, size of 21 bits), content. */
function overBlocks(bytes: Buffer, start: number, walk: Walk): void {
  let at = start;
  while (at + 3 <= bytes.length) {
    const header = bytes.readUIntLE(at, 3);
    const type = (header >>> 1) & 3;
    if (type === reservedBlock) {
      return;
    }
    const size = header >>> 3;
    walk.outputBytes += type === compressedBlock ? maxBlockBytes : size;
    at += 3 + (type === runLengthBlock ? 1 : size);
    if ((header & 1) === 1) {
      walk.at = at;
      return;
    }
  }
}
