import zlib from "node:zlib";
import { DecodeError } from "../errors.ts";

/**
 * How many times a payload may grow, beyond what any may become. A single message that becomes larger than 8 MiB seldom packs ten times; at
 * 16 the pieces and what they are joined to stay within 64 times the message, and what is refused is refused within milliseconds.
 */
const maxRatio = 16;
const freeBytes = 8 * 1024 * 1024;
// Pieces in the size of what most messages become: a larger one is held as long as what was read from it, many small ones cost time.
const piecesRatio = 4;
const minPieceBytes = 1024;
const maxPieceBytes = 1024 * 1024;

/** What a payload of this many packed bytes may become: a few bytes must not fill the memory. */
export function unpackLimit(packedBytes: number, maxBytes: number): number {
  return Math.min(maxBytes, maxRatio * packedBytes + freeBytes);
}

type Unpack = (bytes: Uint8Array, options: zlib.ZlibOptions) => Buffer;

export type Compression = "zlib" | "deflate" | "zstandard";

const unpackers: Readonly<Record<Compression, Unpack | undefined>> = {
  zlib: zlib.inflateSync,
  deflate: zlib.inflateRawSync,
  // Node has it from 22.15 on.
  zstandard: (zlib as { zstdDecompressSync?: Unpack }).zstdDecompressSync,
};

/** What was packed, whole and of at most `limit` bytes, or a `DecodeError`. */
export function unpack(compression: Compression, bytes: Uint8Array, limit: number): Buffer {
  const unpacker = unpackers[compression];
  if (unpacker === undefined) {
    throw new DecodeError(
      "unsupported-format",
      `expected a compression that this runtime can read, found ${compression}, which Node has from 22.15 on: use a newer Node, or another codec`,
    );
  }
  try {
    const chunkSize = Math.max(minPieceBytes, Math.min(maxPieceBytes, piecesRatio * bytes.length));
    const options = { maxOutputLength: Math.max(1, limit), chunkSize, info: true };
    // With `info`, the result tells how much of the input it took: what follows the stream would otherwise be skipped in silence.
    const { buffer, engine } = unpacker(bytes, options) as unknown as { buffer: Buffer; engine: { bytesWritten: number } };
    if (compression !== "zstandard" && engine.bytesWritten !== bytes.length) {
      const rest = bytes.length - engine.bytesWritten;
      throw new DecodeError("trailing-bytes", `expected ${compression} data to the end, found ${rest} bytes behind it`);
    }
    return buffer;
  } catch (error) {
    throw error instanceof DecodeError ? error : unpackError(error, compression, bytes.length, limit);
  }
}

/** The original error is no cause: it says nothing more, and some of them quote what they choked on. */
function unpackError(error: unknown, compression: Compression, packedBytes: number, limit: number): DecodeError {
  const code = (error as { code?: unknown }).code;
  if (code === "ERR_BUFFER_TOO_LARGE") {
    return tooLarge(compression, packedBytes, limit);
  }
  if (code === "Z_BUF_ERROR") {
    return new DecodeError("truncated", `expected whole ${compression} data, found that it ends early after ${packedBytes} bytes`);
  }
  return new DecodeError("malformed", `expected ${compression} data, found ${packedBytes} bytes that are not (${String(code)})`);
}

export function tooLarge(compression: string, packedBytes: number, limit: number): DecodeError {
  return new DecodeError(
    "limit-exceeded",
    `expected ${packedBytes} bytes of ${compression} data to become at most ${limit} (limits.maxMessageBytes, and 16 times its size beyond 8 MiB), found more`,
  );
}
