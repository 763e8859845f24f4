import { crc32, deflateRawSync, inflateRawSync } from "node:zlib";
import avro from "avsc";
import snappy from "snappyjs";
import type { Codec } from "../codec.ts";
import { avroSchemaOf, type RecordShape, type Shape } from "../shape.ts";
import { zstdCompression } from "./compressed.ts";

const zstd = zstdCompression;

/** Avro by avsc, without a container: the reader has the schema. */
export function avroHeadlessCodec<T>(shape: Shape): Codec<T> {
  const type = avro.Type.forSchema(avroSchemaOf(shape) as avro.Schema);
  return {
    name: "avro, headless (avsc)",
    serialize: (value) => type.toBuffer(value),
    deserialize: (bytes) => type.fromBuffer(bytes as Buffer) as T,
  };
}

/** How the blocks of a container file are compressed. */
export type ContainerCompression = "null" | "deflate" | "snappy" | "zstandard";

export const containerCompressions: readonly ContainerCompression[] =
  zstd === null ? ["null", "deflate", "snappy"] : ["null", "deflate", "snappy", "zstandard"];

/** Avro's container file by avsc: the schema in front, then blocks of rows. */
export function avroContainerCodec<Row>(shape: RecordShape, compression: ContainerCompression): Codec<readonly Row[]> {
  const schema = avroSchemaOf(shape) as avro.Schema;
  return {
    name: compression === "null" ? "avro, container (avsc)" : `avro, ${compression} (avsc)`,
    async serialize(rows) {
      const encoder = new avro.streams.BlockEncoder(schema, { codec: compression, codecs: encoders });
      const chunks: Buffer[] = [];
      encoder.on("data", (chunk: Buffer) => chunks.push(chunk));
      const ended = endOf(encoder);
      for (const row of rows) {
        encoder.write(row);
      }
      encoder.end();
      await ended;
      return Buffer.concat(chunks);
    },
    async deserialize(bytes) {
      const decoder = new avro.streams.BlockDecoder({ codecs: decoders });
      const rows: Row[] = [];
      decoder.on("data", (row: Row) => rows.push(row));
      const ended = endOf(decoder);
      decoder.end(bytes);
      await ended;
      return rows;
    },
  };
}

function endOf(stream: NodeJS.EventEmitter): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.on("end", () => resolve());
    stream.on("error", reject);
  });
}

/** Largest block when it is decompressed: a small one could claim to hold any number of bytes. */
const maxBlockBytes = 268_435_456;

type BlockCodec = (bytes: Buffer, done: (error: Error | null, bytes?: Buffer) => void) => void;

const encoders: Readonly<Record<string, BlockCodec>> = {
  null: (bytes, done) => done(null, bytes),
  deflate: attempt((bytes) => deflateRawSync(bytes)),
  snappy: attempt((bytes) => {
    const checksum = Buffer.alloc(4);
    checksum.writeUInt32BE(crc32(bytes));
    return Buffer.concat([snappy.compress(bytes), checksum]);
  }),
  ...(zstd === null ? {} : { zstandard: attempt((bytes) => Buffer.from(zstd.compress(bytes))) }),
};

const decoders: Readonly<Record<string, BlockCodec>> = {
  null: (bytes, done) => done(null, bytes),
  deflate: attempt((bytes) => inflateRawSync(bytes, { maxOutputLength: maxBlockBytes })),
  snappy: attempt((bytes) => {
    const content = Buffer.from(snappy.uncompress(bytes.subarray(0, -4), maxBlockBytes));
    if (crc32(content) !== bytes.readUInt32BE(bytes.length - 4)) {
      throw new Error("the checksum of a snappy block is wrong");
    }
    return content;
  }),
  ...(zstd === null ? {} : { zstandard: attempt((bytes) => Buffer.from(zstd.decompress(bytes))) }),
};

/** What works on bytes at once, as avsc calls it: an exception is an error of the stream. */
function attempt(work: (bytes: Buffer) => Buffer): BlockCodec {
  return (bytes, done) => {
    let result: Buffer;
    try {
      result = work(bytes);
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)));
      return;
    }
    done(null, result);
  };
}
