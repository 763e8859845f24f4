import * as zlib from "node:zlib";
import type { Codec } from "../codec.ts";

/** Both directions of one compression. */
export interface Compression {
  readonly name: string;
  compress(bytes: Uint8Array): Uint8Array;
  decompress(bytes: Uint8Array): Uint8Array;
}

// Quality 11, the default, is made for files that are compressed once: it takes a hundred times as long as quality 4, which servers use.
const brotliQuality = 4;

export const gzip: Compression = { name: "gzip", compress: (bytes) => zlib.gzipSync(bytes), decompress: (bytes) => zlib.gunzipSync(bytes) };

const brotli: Compression = {
  name: `brotli ${brotliQuality}`,
  compress: (bytes) => zlib.brotliCompressSync(bytes, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: brotliQuality } }),
  decompress: (bytes) => zlib.brotliDecompressSync(bytes),
};

// Node has zstd from 22.15 on; the types are of the oldest version that we support.
const { zstdCompressSync, zstdDecompressSync } = zlib as unknown as {
  readonly zstdCompressSync?: (bytes: Uint8Array) => Uint8Array;
  readonly zstdDecompressSync?: (bytes: Uint8Array) => Uint8Array;
};
const zstd: Compression | null =
  zstdCompressSync === undefined || zstdDecompressSync === undefined
    ? null
    : { name: "zstd", compress: zstdCompressSync, decompress: zstdDecompressSync };

/** The compressions that this version of Node has. */
export const compressions: readonly Compression[] = zstd === null ? [gzip, brotli] : [gzip, brotli, zstd];

/** Whether this version of Node can write and read zstd. */
export const hasZstd: boolean = zstd !== null;

/** A codec whose bytes are compressed. */
export function compressed<T>(inner: Codec<T>, { name, compress, decompress }: Compression): Codec<T> {
  return {
    name: `${inner.name}, ${name}`,
    serialize(value) {
      const bytes = inner.serialize(value);
      return bytes instanceof Promise ? bytes.then(compress) : compress(bytes);
    },
    deserialize: (bytes) => inner.deserialize(decompress(bytes)),
  };
}

/** zstd for Avro's container files; null if Node has none. */
export const zstdCompression: Compression | null = zstd;
