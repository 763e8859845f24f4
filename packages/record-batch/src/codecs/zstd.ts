import { Decompress } from "fzstd";
import * as zlib from "node:zlib";
import { chunkBytes } from "./chunk-bytes.ts";
import { damaged, tooLarge } from "./output-limit.ts";
import { outputBound } from "./zstd-frames.ts";
import { isZstdInWasmSettled, loadZstdInWasm, unzstdInWasm } from "./zstd-in-wasm.ts";

const frameMagic = 0xfd2fb528;
/** Zstandard's own default limit (windowLog 27). */
const maxWindowBytes = 128 * 1024 * 1024;

type ZstdDecompressSync = (bytes: Uint8Array, options: { readonly maxOutputLength: number; readonly chunkSize: number }) => Buffer;

/** Available from Node 22.15 on. The types here are Node 20's, and do not have it. */
const zstdDecompressSync = (zlib as unknown as { readonly zstdDecompressSync?: ZstdDecompressSync }).zstdDecompressSync;

/**
 * Unpacks a zstd batch within the limit: with Node's own zstd if it has one, otherwise in WebAssembly, and with fzstd where that cannot be.
 */
export function unzstd(bytes: Buffer, maxBytes: number): Buffer {
  const bound = outputBound(bytes);
  if (bound === null) {
    // Node 22 and fzstd return a part of some cut frames without an error.
    throw damaged("zstd", "it is cut, or holds bytes that are no zstd frame");
  }
  return zstdDecompressSync === undefined
    ? (unzstdInWasm(bytes, Math.min(bound, maxBytes)) ?? unzstdInScript(bytes, maxBytes))
    : unzstdInNode(bytes, maxBytes, zstdDecompressSync);
}

/** Loads what reads zstd fast where Node cannot. Null if there is nothing to load, or nothing that is not loaded yet. */
export function prepareZstd(): Promise<void> | null {
  return zstdDecompressSync === undefined && !isZstdInWasmSettled() ? loadZstdInWasm().then(() => {}) : null;
}

function unzstdInNode(bytes: Buffer, maxBytes: number, decompress: ZstdDecompressSync): Buffer {
  try {
    return decompress(bytes, { maxOutputLength: maxBytes, chunkSize: chunkBytes(bytes.length) });
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE"
      ? tooLarge("zstd", bytes.length, maxBytes)
      : damaged("zstd", "zlib cannot read it", error);
  }
}

/** Uses fzstd's streaming interface, because it can be stopped at the limit. The other one makes the whole output first. */
export function unzstdInScript(bytes: Buffer, maxBytes: number): Buffer {
  if (windowBytes(bytes) > maxWindowBytes) {
    throw damaged("zstd", "its window is larger than zstd's own default limit of 128 MiB");
  }
  const chunks: Uint8Array[] = [];
  let total = 0;
  let isTooLarge = false;
  const stream = new Decompress((chunk) => {
    total += chunk.length;
    isTooLarge = total > maxBytes;
    if (isTooLarge) {
      throw tooLarge("zstd", bytes.length, maxBytes);
    }
    chunks.push(chunk);
  });
  try {
    stream.push(bytes, true);
  } catch (error) {
    throw isTooLarge ? error : damaged("zstd", "fzstd cannot read it", error);
  }
  return Buffer.concat(chunks, total);
}

/**
 * The window size of the frame. fzstd allocates it before it reads a block.
 * Frame_Header => Descriptor, Window_Descriptor?, ...; https://www.rfc-editor.org/rfc/rfc8878#section-3.1.1.1
 */
function windowBytes(bytes: Buffer): number {
  if (bytes.length < 6 || bytes.readUInt32LE(0) !== frameMagic) {
    throw damaged("zstd", "it does not start as a zstd frame");
  }
  const descriptor = bytes[4] ?? 0;
  const isSingleSegment = (descriptor & 0x20) !== 0;
  if (!isSingleSegment) {
    const window = bytes[5] ?? 0;
    const base = 2 ** (10 + (window >>> 3));
    return base + (base / 8) * (window & 7);
  }
  return contentBytes(bytes, descriptor);
}

/** The window of a single segment is its whole output. */
function contentBytes(bytes: Buffer, descriptor: number): number {
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3] ?? 0;
  const at = 5 + dictionaryBytes;
  const size = [1, 2, 4, 8][descriptor >>> 6] ?? 1;
  if (at + size > bytes.length) {
    throw damaged("zstd", "it ends inside its header");
  }
  if (size === 8) {
    return Number(bytes.readBigUInt64LE(at));
  }
  return bytes.readUIntLE(at, size) + (size === 2 ? 256 : 0);
}
