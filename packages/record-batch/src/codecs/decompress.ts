import { isRecordBatchError } from "../errors.ts";
import type { CompressionName, Decompress } from "../options.ts";
import { gunzip, gunzipInPool } from "./gzip.ts";
import { unlz4 } from "./lz4.ts";
import { damaged, outputLimit, tooLarge } from "./output-limit.ts";
import { unsnappy } from "./snappy.ts";
import { prepareZstd, unzstd } from "./zstd.ts";

const own: Readonly<Record<CompressionName, (bytes: Buffer, maxBytes: number) => Buffer>> = {
  gzip: gunzip,
  snappy: unsnappy,
  lz4: unlz4,
  zstd: unzstd,
};

/** What compressed bytes may become, and codecs of your own. */
export interface DecompressOptions {
  /**
   * The most bytes that a batch may unpack to. More is an error.
   * @default 512 times the compressed bytes and 16 MiB, at most 512 MiB
   */
  readonly maxDecompressedBytes?: number;
  /**
   * Decompressions of your own, by the names of compressions. They replace the built-in ones.
   * @default {}
   */
  readonly codecs?: Readonly<Partial<Record<CompressionName, Decompress>>>;
}

/**
 * Decompresses the records of a batch: `gzip`, `snappy` (raw, or as snappy-java frames it), `lz4` frames, `zstd` frames. The result has at
 * most `maxDecompressedBytes` bytes; this holds before memory is taken for it. Throws a `RecordBatchError` of code `damaged-compression` or `batch-too-large`, without a place.
 */
export function decompress(compression: CompressionName, compressed: Uint8Array, options: DecompressOptions = {}): Uint8Array {
  const maxBytes = maxBytesOf(compressed, options);
  const custom = options.codecs?.[compression];
  if (custom === undefined) {
    return own[compression](asBuffer(compressed), maxBytes);
  }
  const decompressed = callCustom(custom, compression, compressed, maxBytes);
  if (!(decompressed instanceof Uint8Array)) {
    throw damaged(compression, "the codec of the options returned no bytes");
  }
  if (decompressed.length > maxBytes) {
    throw tooLarge(compression, compressed.length, maxBytes);
  }
  return decompressed;
}

/**
 * The same, except that gzip is unpacked on a thread of Node's pool, which is no faster, but leaves the event loop to others; and that zstd is
 * loaded first where it has to be.
 */
export async function decompressAsync(
  compression: CompressionName,
  compressed: Uint8Array,
  options: DecompressOptions = {},
): Promise<Uint8Array> {
  if (compression === "zstd" && options.codecs?.zstd === undefined) {
    await prepareZstd();
  }
  return compression === "gzip" && options.codecs?.gzip === undefined
    ? gunzipInPool(asBuffer(compressed), maxBytesOf(compressed, options))
    : decompress(compression, compressed, options);
}

function maxBytesOf(compressed: Uint8Array, options: DecompressOptions): number {
  return options.maxDecompressedBytes ?? outputLimit(compressed.length);
}

function callCustom(custom: Decompress, compression: CompressionName, compressed: Uint8Array, maxBytes: number): unknown {
  try {
    return custom(compressed, maxBytes);
  } catch (error) {
    throw isRecordBatchError(error) ? error : damaged(compression, "the codec of the options cannot read it", error);
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}
