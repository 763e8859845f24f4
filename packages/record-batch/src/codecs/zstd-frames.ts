const frameMagic = 0xfd2fb528;
const firstSkippableMagic = 0x184d2a50;
const runLengthBlock = 1;
const reservedBlock = 3;

/**
 * Whether the bytes are complete zstd frames and nothing more. Walks from block to block without reading them.
 * Frame => magic, header, Block..., checksum?; https://www.rfc-editor.org/rfc/rfc8878#section-3.1.1
 */
export function areWholeFrames(bytes: Buffer): boolean {
  let at = 0;
  do {
    at = endOfFrame(bytes, at);
  } while (at !== -1 && at < bytes.length);
  return at === bytes.length;
}

/** The place after the frame that starts here, or -1 if it is not complete. */
function endOfFrame(bytes: Buffer, start: number): number {
  if (start + 8 > bytes.length) {
    return -1;
  }
  const magic = bytes.readUInt32LE(start);
  if (magic >>> 4 === firstSkippableMagic >>> 4) {
    return start + 8 + bytes.readUInt32LE(start + 4);
  }
  if (magic !== frameMagic) {
    return -1;
  }
  const descriptor = bytes.readUInt8(start + 4);
  const end = endOfBlocks(bytes, start + 5 + headerBytes(descriptor));
  const hasChecksum = (descriptor & 4) !== 0;
  return end === -1 || !hasChecksum ? end : end + 4;
}

/** Window_Descriptor?, Dictionary_ID?, Frame_Content_Size?. The descriptor before them says which ones there are, and their lengths. */
function headerBytes(descriptor: number): number {
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3] ?? 0;
  const contentSizeBytes = [isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >>> 6] ?? 0;
  return (isSingleSegment ? 0 : 1) + dictionaryBytes + contentSizeBytes;
}

/** Block => Block_Header (24 bits: last, type of 2 bits, size of 21 bits), content. */
function endOfBlocks(bytes: Buffer, start: number): number {
  let at = start;
  while (at + 3 <= bytes.length) {
    const header = bytes.readUIntLE(at, 3);
    const type = (header >>> 1) & 3;
    if (type === reservedBlock) {
      return -1;
    }
    at += 3 + (type === runLengthBlock ? 1 : header >>> 3);
    if ((header & 1) === 1) {
      return at;
    }
  }
  return -1;
}
