import { type CompressionName, decompressAsync, isRecordBatchError } from "@cdckit/record-batch";
import { KafkaJsDriverError } from "./errors.ts";

/** kafkajs' interface of a codec. */
interface KafkaJsCodec {
  compress(encoder: { readonly buffer: Buffer }): Promise<Buffer>;
  decompress(bytes: Buffer): Promise<Buffer>;
}

/** kafkajs' table of codecs by compression type. All clients of a process share it. */
export type CodecTable = Record<number, () => KafkaJsCodec>;

const compressions = { gzip: 1, snappy: 2, lz4: 3, zstd: 4 } as const;

const installed = new WeakSet<object>();

/**
 * Makes kafkajs read every compression within limits. Codecs that the application has registered stay, and kafkajs' own gzip still writes.
 */
export function installCodecs(codecs: CodecTable): void {
  if (installed.has(codecs)) {
    return;
  }
  installed.add(codecs);
  const ownGzip = codecs[compressions.gzip]?.();
  if (ownGzip !== undefined) {
    codecs[compressions.gzip] = () => ({ compress: (encoder) => ownGzip.compress(encoder), decompress: readerOf("gzip") });
  }
  installReader(codecs, "snappy");
  installReader(codecs, "lz4");
  installReader(codecs, "zstd");
}

function installReader(codecs: CodecTable, name: CompressionName): void {
  const type = compressions[name];
  if (isThere(codecs[type])) {
    return;
  }
  codecs[type] = () => ({
    decompress: readerOf(name),
    compress: async () => {
      throw new KafkaJsDriverError(
        "invalid-option",
        `@cdckit/kafkajs reads ${name} but does not write it: produce with gzip, or register a codec`,
      );
    },
  });
}

/** kafkajs reads `retriable` of an error: a batch that cannot be read now cannot be read a second later. */
function readerOf(name: CompressionName): (bytes: Buffer) => Promise<Buffer> {
  return async (bytes) => {
    try {
      const { buffer, byteOffset, length } = await decompressAsync(name, bytes);
      return Buffer.from(buffer, byteOffset, length);
    } catch (error) {
      throw isRecordBatchError(error)
        ? new KafkaJsDriverError("batch-unreadable", `a record batch cannot be read: ${error.detail}`, { cause: error })
        : error;
    }
  };
}

/** kafkajs' placeholder for a codec throws until a codec is registered. */
function isThere(codec: (() => KafkaJsCodec) | undefined): boolean {
  try {
    return codec?.() !== undefined;
  } catch {
    return false;
  }
}
