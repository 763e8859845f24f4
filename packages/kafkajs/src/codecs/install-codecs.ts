import { gunzip } from "./gzip.ts";
import { unlz4 } from "./lz4.ts";
import { KafkaJsDriverError } from "../errors.ts";
import { unsnappy } from "./snappy.ts";
import { unzstd } from "./zstd.ts";

/** kafkajs' interface of a codec. */
interface KafkaJsCodec {
  compress(encoder: { readonly buffer: Buffer }): Promise<Buffer>;
  decompress(bytes: Buffer): Promise<Buffer>;
}

/** kafkajs' table of codecs by compression type. All clients of a process share it. */
export type KafkaJsCodecs = Record<number, () => KafkaJsCodec>;

const compressions = { gzip: 1, snappy: 2, lz4: 3, zstd: 4 } as const;

const installed = new WeakSet<object>();

/**
 * Makes kafkajs read every compression within limits. Codecs that the application has registered stay, and kafkajs' own gzip still writes.
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
        `@cdckit/kafkajs reads ${name} but does not write it: produce with gzip, or register a codec`,
      );
    },
  });
}

/** kafkajs' placeholder for a codec throws until a codec is registered. */
function isThere(codec: (() => KafkaJsCodec) | undefined): boolean {
  try {
    return codec?.() !== undefined;
  } catch {
    return false;
  }
}
