import { compressionNames } from "./compressions.ts";
import { RecordBatchError } from "./errors.ts";

/** How the records of a batch are compressed. */
export type CompressionName = "gzip" | "snappy" | "lz4" | "zstd";

/**
 * Returns the decompressed bytes, or throws. It must not make more than `maxBytes` bytes, because a few compressed bytes may become
 * gigabytes.
 */
export type Decompress = (compressed: Uint8Array, maxBytes: number) => Uint8Array;

/** What is checked of a batch, and what it may become. */
export interface RecordBatchOptions {
  /**
   * Whether the CRC-32C of each batch is checked. Without the check, records that were damaged on the way may be handed over.
   * @default true
   */
  readonly checkCrcs?: boolean;
  /**
   * The largest number of bytes that one batch may become when it is decompressed, whatever its compressed bytes are. At most 1,073,741,824.
   * @default 512 times the compressed bytes and 16 MiB, at most 512 MiB
   */
  readonly maxDecompressedBytes?: number;
  /**
   * A set ends with the batch that takes it to this many bytes. A fetch of highly compressed batches is thereby decompressed in parts.
   * @default 4_194_304
   */
  readonly setBytes?: number;
  /**
   * Decompression in place of the package's own choice, which is the fastest that is installed.
   * @default {}
   */
  readonly codecs?: Readonly<Partial<Record<CompressionName, Decompress>>>;
}

/** What has no default: without it the limit is one of each batch. See `outputLimit`. */
type OptionalName = "maxDecompressedBytes";

/** Every option that has a default present. */
export type ResolvedOptions = Required<Omit<RecordBatchOptions, OptionalName>> & Pick<RecordBatchOptions, OptionalName>;

/**
 * The most that `maxDecompressedBytes` and `setBytes` may be. Handles of records are positions in the bytes of a set, and stay small integers
 * below this.
 */
export const maxBatchBytes: number = 2 ** 30;

const defaults: ResolvedOptions = Object.freeze({
  checkCrcs: true,
  setBytes: 4 * 1024 * 1024,
  codecs: {},
});

/** A new option does not compile without a name here. */
const names: Readonly<Record<keyof RecordBatchOptions, true>> = {
  checkCrcs: true,
  maxDecompressedBytes: true,
  setBytes: true,
  codecs: true,
};

export function resolveOptions(options: RecordBatchOptions): ResolvedOptions {
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(names, name));
  if (unknown !== undefined) {
    throw invalid(unknown, `one of the options ${Object.keys(names).join(", ")}`, unknown);
  }
  const resolved = { ...defaults, ...definedOf(options) };
  checkBytes("maxDecompressedBytes", resolved.maxDecompressedBytes ?? maxBatchBytes);
  checkBytes("setBytes", resolved.setBytes);
  if (typeof resolved.checkCrcs !== "boolean") {
    throw invalid("checkCrcs", "true or false", typeof resolved.checkCrcs);
  }
  checkCodecs(resolved.codecs);
  return Object.freeze(resolved);
}

/** A codec of a name that is none would never be asked. */
function checkCodecs(codecs: unknown): void {
  if (typeof codecs !== "object" || codecs === null) {
    throw invalid("codecs", "an object of functions", codecs === null ? "null" : typeof codecs);
  }
  for (const [name, codec] of Object.entries(codecs)) {
    if (!(compressionNames as readonly string[]).includes(name) || name === "none") {
      throw invalid(`codecs.${name}`, "gzip, snappy, lz4 or zstd as the name of a codec", name);
    }
    if (codec !== undefined && typeof codec !== "function") {
      throw invalid(`codecs.${name}`, "a function", typeof codec);
    }
  }
}

/** An option that is present and undefined is as good as absent. */
function definedOf(options: RecordBatchOptions): RecordBatchOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

function checkBytes(name: string, value: number): void {
  if (!Number.isSafeInteger(value) || value < 1 || value > maxBatchBytes) {
    throw invalid(name, `a whole number from 1 to ${maxBatchBytes}`, String(value));
  }
}

function invalid(name: string, expected: string, found: string): RecordBatchError {
  return new RecordBatchError("invalid-option", `${name}: expected ${expected}, found ${found}`, { expected, found });
}
