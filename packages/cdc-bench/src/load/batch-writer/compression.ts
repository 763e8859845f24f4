import { promisify } from "node:util";
import * as zlib from "node:zlib";
import { BenchError } from "../../bench-error.ts";

/** Every compression of Kafka's record batches, with the number that stands for it there. */
export const compressionTypes = { none: 0, gzip: 1, snappy: 2, lz4: 3, zstd: 4 } as const;

export type CompressionName = keyof typeof compressionTypes;

/** Compresses the records of a batch. */
export interface BatchCompression {
  readonly name: CompressionName;
  readonly type: number;
  /** Null: the records stay as they are. */
  readonly compress: ((records: Buffer) => Promise<Buffer>) | null;
}

/** Compression as it is asked for. What is not there (lz4 without its package, zstd on Node before 22.15) is a usage error with what to do. */
export async function loadCompression(name: CompressionName): Promise<BatchCompression> {
  return { name, type: compressionTypes[name], compress: await loaders[name]() };
}

const loaders: Readonly<Record<CompressionName, () => Promise<BatchCompression["compress"]>>> = {
  none: async () => null,
  gzip: async () => promisify<Buffer, Buffer>((bytes, done) => zlib.gzip(bytes, done)),
  snappy: loadSnappy,
  lz4: loadLz4,
  zstd: loadZstd,
};

/** The header of snappy-java's framing: magic, version, lowest compatible version. Java's producers write it, and so do we. */
const xerialHeader = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00, 0, 0, 0, 1, 0, 0, 0, 1]);
const xerialBlockBytes = 32_768;

async function loadSnappy(): Promise<BatchCompression["compress"]> {
  const { default: snappy } = await import("snappyjs");
  return async (records) => {
    const parts: Uint8Array[] = [xerialHeader];
    for (let at = 0; at < records.length; at += xerialBlockBytes) {
      const block = snappy.compress(records.subarray(at, at + xerialBlockBytes));
      const length = Buffer.alloc(4);
      length.writeUInt32BE(block.length);
      parts.push(length, block);
    }
    return Buffer.concat(parts);
  };
}

interface Lz4 {
  compressFrame(bytes: Uint8Array): Promise<Buffer>;
}

async function loadLz4(): Promise<BatchCompression["compress"]> {
  try {
    const { default: lz4 } = (await import("lz4-napi")) as unknown as { readonly default: Lz4 };
    return (records) => lz4.compressFrame(records);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") {
      throw cause;
    }
    throw new BenchError("usage", "writing lz4 needs the package lz4-napi: npm install lz4-napi, or leave lz4 out of --compression.", {
      cause,
    });
  }
}

type ZstdCompress = (bytes: Uint8Array, done: (error: Error | null, compressed: Buffer) => void) => void;

async function loadZstd(): Promise<BatchCompression["compress"]> {
  // The types here are Node 20's, and do not have it.
  const { zstdCompress } = zlib as unknown as { readonly zstdCompress?: ZstdCompress };
  if (zstdCompress === undefined) {
    throw new BenchError(
      "usage",
      `writing zstd needs Node 22.15 or newer, and this is ${process.version}: leave zstd out of --compression.`,
    );
  }
  return promisify<Uint8Array, Buffer>((bytes, done) => zstdCompress(bytes, done));
}
