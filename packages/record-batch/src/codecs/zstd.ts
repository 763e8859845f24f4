import * as zlib from "node:zlib";
import { chunkBytes } from "./chunk-bytes.ts";
import { damaged, tooLarge } from "./output-limit.ts";
import { type ZstdFrame, zstdFrames } from "./zstd-frames.ts";
import { isZstdInWasmSettled, loadZstdInWasm, unzstdInWasm } from "./zstd-in-wasm.ts";
import { unzstdInScript } from "./zstd-script.ts";

/** Zstandard's own default limit (windowLog 27), for all frames of a batch together. */
const maxWindowBytes = 128 * 1024 * 1024;

type ZstdDecompressSync = (bytes: Uint8Array, options: { readonly maxOutputLength: number; readonly chunkSize: number }) => Buffer;

/** Available from Node 22.15 on. The types here are Node 20's, and do not have it. */
const zstdDecompressSync = (zlib as unknown as { readonly zstdDecompressSync?: ZstdDecompressSync }).zstdDecompressSync;

/**
 * Unpacks a zstd batch within the limit: with Node's own zstd if it has one, otherwise in WebAssembly, and in plain JavaScript where that cannot be.
 * Node reads the first frame only. Kafka's producers write one; several together are left to the others.
 */
export function unzstd(bytes: Buffer, maxBytes: number): Buffer {
  const frames = zstdFrames(bytes);
  if (frames === null) {
    // Node 22 returns a part of some cut frames without an error.
    throw damaged("zstd", "it is cut, or holds bytes that are no zstd frame");
  }
  if (sumOf(frames, ({ windowBytes }) => windowBytes) > maxWindowBytes) {
    throw damaged("zstd", "its window is larger than zstd's own default limit of 128 MiB");
  }
  if (frames.some(({ needsDictionary }) => needsDictionary)) {
    // Without it, the first matches of such a frame may copy other bytes than it means.
    throw damaged("zstd", "it needs a dictionary, which Kafka does not have");
  }
  if (frames.length === 0) {
    return Buffer.alloc(0);
  }
  const packed = withoutSkippable(bytes, frames);
  if (frames.length === 1 && zstdDecompressSync !== undefined) {
    return unzstdInNode(packed, maxBytes, zstdDecompressSync);
  }
  const bound = sumOf(frames, ({ maxOutputBytes }) => maxOutputBytes);
  return unzstdInWasm(packed, Math.min(bound, maxBytes)) ?? unzstdInScript(packed, maxBytes);
}

/** Node and WebAssembly are given frames alone. */
function withoutSkippable(bytes: Buffer, frames: readonly ZstdFrame[]): Buffer {
  const hasNone = sumOf(frames, ({ start, end }) => end - start) === bytes.length;
  return hasNone ? bytes : Buffer.concat(frames.map(({ start, end }) => bytes.subarray(start, end)));
}

function sumOf(frames: readonly ZstdFrame[], of: (frame: ZstdFrame) => number): number {
  return frames.reduce((sum, frame) => sum + of(frame), 0);
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
