import { promisify } from "node:util";
import * as zlib from "node:zlib";

/** A content coding of HTTP. Compression runs beside the event loop, as servers do it. */
export interface ContentCoding {
  /** As HTTP names it: `br` is brotli. */
  readonly name: string;
  encode(bytes: Uint8Array): Promise<Uint8Array>;
  /** @throws {InflateError} on bytes that are cut or are none of this coding, and on more than `maxBytes` */
  decode(bytes: Uint8Array, maxBytes: number): Promise<Uint8Array>;
}

/** Why bytes could not be decompressed. */
export class InflateError extends Error {
  override readonly name = "InflateError";
  /** Whether there was more than the limit: a bomb, or a limit that is too low. */
  readonly isTooLarge: boolean;

  constructor(isTooLarge: boolean, cause: unknown) {
    super(isTooLarge ? "it is larger than the limit when decompressed" : "its compression is broken or cut", { cause });
    this.isTooLarge = isTooLarge;
  }
}

type Work = (bytes: Uint8Array, options: Readonly<Record<string, unknown>>) => Promise<Uint8Array>;

// Quality 11, the default, is made for files that are compressed once: servers use 4.
const brotliOptions = { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } };

const identity: ContentCoding = { name: "identity", encode: async (bytes) => bytes, decode: async (bytes) => bytes };

function coding(
  name: string,
  compress: unknown,
  decompress: unknown,
  options: Readonly<Record<string, unknown>> = {},
): ContentCoding | null {
  if (typeof compress !== "function" || typeof decompress !== "function") {
    return null;
  }
  const [encode, decode] = [promisify(compress as never) as unknown as Work, promisify(decompress as never) as unknown as Work];
  return {
    name,
    encode: (bytes) => encode(bytes, options),
    async decode(bytes, maxBytes) {
      try {
        return await decode(bytes, { maxOutputLength: maxBytes });
      } catch (error) {
        throw new InflateError((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE", error);
      }
    },
  };
}

// Node has zstd from 22.15 on; the types are of the oldest version that we support.
const { zstdCompress, zstdDecompress } = zlib as unknown as { readonly zstdCompress?: unknown; readonly zstdDecompress?: unknown };

/** Every content coding that this version of Node has, `identity` first. */
export const contentCodings: readonly ContentCoding[] = [
  identity,
  coding("gzip", zlib.gzip, zlib.gunzip),
  coding("br", zlib.brotliCompress, zlib.brotliDecompress, brotliOptions),
  coding("zstd", zstdCompress, zstdDecompress),
].filter((each) => each !== null);

export function contentCoding(name: string): ContentCoding | undefined {
  return contentCodings.find((each) => each.name === name);
}
