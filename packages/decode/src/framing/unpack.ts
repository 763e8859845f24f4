import zlib from "node:zlib";
import { DecodeError } from "../errors.ts";

/**
 * The most times that a payload may grow, beyond the 8 MiB that any payload may grow to. A message that unpacks to more than 8 MiB is
 * seldom ten times as large as its packed form. With a ratio of 16, the chunks and the buffer that they are joined into take at most 64
 * times the size of the message, and a message that is refused is refused within milliseconds.
 */
const maxRatio = 16;
const freeBytes = 8 * 1024 * 1024;
// The size of a chunk fits the size that most messages unpack to. A larger chunk stays in memory as long as the bytes that were read from
// it, and many small chunks take more time.
const piecesRatio = 4;
const minPieceBytes = 1024;
const maxPieceBytes = 1024 * 1024;

/** The most bytes that a payload of this many packed bytes may unpack to. Without this limit, a few bytes could fill the memory. */
export function unpackLimit(packedBytes: number, maxBytes: number): number {
  return Math.min(maxBytes, maxRatio * packedBytes + freeBytes);
}

type Unpack = (bytes: Uint8Array, options: zlib.ZlibOptions) => Buffer;

export type Compression = "zlib" | "deflate" | "zstandard";

const unpackers: Readonly<Record<Compression, Unpack | undefined>> = {
  zlib: zlib.inflateSync,
  deflate: zlib.inflateRawSync,
  // Node has had this function since 22.15.
  zstandard: (zlib as { zstdDecompressSync?: Unpack }).zstdDecompressSync,
};

/** Python's writers of Avro make zlib data, and take its header away but only the last byte of its checksum. Other readers look at none of it. */
const zlibRest = 3;

/**
 * Unpacks all bytes into at most `limit` bytes. Throws a `DecodeError` if they are incomplete, are followed by other bytes or unpack to
 * more.
 */
export function unpack(compression: Compression, bytes: Uint8Array, limit: number): Buffer {
  const unpacker = unpackers[compression];
  if (unpacker === undefined) {
    throw new DecodeError(
      "unsupported-format",
      `expected a compression that this runtime can read, found ${compression}, which Node supports since 22.15; use a newer Node or another codec`,
    );
  }
  try {
    const chunkSize = Math.max(minPieceBytes, Math.min(maxPieceBytes, piecesRatio * bytes.length));
    const options = { maxOutputLength: Math.max(1, limit), chunkSize, info: true };
    // With `info`, the result says how many input bytes the stream took. zlib does not report bytes that follow the stream.
    const { buffer, engine } = unpacker(bytes, options) as unknown as { buffer: Buffer; engine: { bytesWritten: number } };
    const rest = compression === "zstandard" ? 0 : bytes.length - engine.bytesWritten;
    if (rest !== 0 && !(compression === "deflate" && rest === zlibRest)) {
      throw new DecodeError(
        "trailing-bytes",
        `expected ${compression} data to the end of the payload, found ${rest} more bytes after it; check what wrote the message`,
      );
    }
    return buffer;
  } catch (error) {
    throw error instanceof DecodeError ? error : unpackError(error, compression, bytes.length, limit);
  }
}

/** The original error is not kept as a cause. It says nothing more, and some errors quote the bytes that they could not read. */
function unpackError(error: unknown, compression: Compression, packedBytes: number, limit: number): DecodeError {
  const code = (error as { code?: unknown }).code;
  if (code === "ERR_BUFFER_TOO_LARGE") {
    return tooLarge(compression, packedBytes, limit);
  }
  if (code === "Z_BUF_ERROR") {
    return new DecodeError(
      "truncated",
      `expected complete ${compression} data, found that it ends too early, after ${packedBytes} bytes; check whether the message was cut`,
    );
  }
  return new DecodeError(
    "malformed",
    `expected ${compression} data, found ${packedBytes} other bytes (${String(code)}); check what wrote the message`,
  );
}

export function tooLarge(compression: string, packedBytes: number, limit: number): DecodeError {
  return new DecodeError(
    "limit-exceeded",
    `expected ${packedBytes} bytes of ${compression} data to become at most ${limit} (limits.maxMessageBytes, and 8 MiB plus 16 times the packed size), found more`,
  );
}
