import { gunzip } from "./gzip.ts";
import { unlz4 } from "./lz4.ts";
import { KafkaJsDriverError } from "../errors.ts";
import { unsnappy } from "./snappy.ts";
import { unzstd } from "./zstd.ts";

/** A codec as kafkajs wants it. */
interface KafkaJsCodec {
  compress(encoder: { readonly buffer: Buffer }): Promise<Buffer>;
  decompress(bytes: Buffer): Promise<Buffer>;
}

/** kafkajs' table of codecs, by compression type: one per process, shared by all its clients. */
export type KafkaJsCodecs = Record<number, () => KafkaJsCodec>;

const compressions = { gzip: 1, snappy: 2, lz4: 3, zstd: 4 } as const;

const installed = new WeakSet<object>();

/**
 * Makes kafkajs read every compression, within bounds. Codecs that the application has put in place itself stay, and so does kafkajs' own
 * way to write gzip.
 */
export function installCodecs(codecs: KafkaJsCodecs): void {
  if (installed.has(codecs)) {
    return;
  }
  installed.add(codecs);
  const ownGzip = codecs[compressions.gzip]?.();
  if (ownGzip !== undefined) {
    codecs[compressions.gzip] = () => ({ compress: (encoder) => ownGzip.compress(encoder), decompress: gunzip });
  }
  installReader(codecs, "snappy", unsnappy);
  installReader(codecs, "lz4", (bytes) => unlz4(bytes));
  installReader(codecs, "zstd", unzstd);
}

function installReader(codecs: KafkaJsCodecs, name: keyof typeof compressions, read: (bytes: Buffer) => Buffer): void {
  const type = compressions[name];
  if (isThere(codecs[type])) {
    return;
  }
  codecs[type] = () => ({
    decompress: async (bytes) => read(bytes),
    compress: async () => {
      throw new KafkaJsDriverError(
        "invalid-option",
        `@cdckit/kafkajs reads ${name} and does not write it; produce with gzip, or register a codec`,
      );
    },
  });
}

/** kafkajs has a place for each codec that throws as long as nobody has put one there. */
function isThere(codec: (() => KafkaJsCodec) | undefined): boolean {
  try {
    return codec?.() !== undefined;
  } catch {
    return false;
  }
}
