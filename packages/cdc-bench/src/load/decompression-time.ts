import { createRequire } from "node:module";
import { performance } from "node:perf_hooks";

interface Codec {
  compress(encoder: { readonly buffer: Buffer }): Promise<Buffer>;
  decompress(bytes: Buffer): Promise<Buffer>;
}

type Codecs = Record<number, () => Codec>;

const types = [1, 2, 3, 4]; // gzip, snappy, lz4, zstd
const timedCodecs = new WeakSet<() => Codec>();
let totalMs = 0;

/** How long batches have been decompressed in this process so far, in milliseconds. A reading is the difference of two looks. */
export function decompressedMs(): number {
  return totalMs;
}

/**
 * Times the codecs of kafkajs, which are one table for all clients of the process. Call it after the driver has put its own there; more
 * calls do nothing. Batches that are decompressed at the same time count one by one.
 */
export function timeDecompression(): void {
  // kafkajs is CommonJS, and Node does not find this name among its exports.
  const { CompressionCodecs: codecs } = createRequire(import.meta.url)("kafkajs") as { readonly CompressionCodecs: Codecs };
  for (const type of types) {
    const find = codecs[type];
    if (find !== undefined && !timedCodecs.has(find)) {
      codecs[type] = timed(find);
    }
  }
}

function timed(find: () => Codec): () => Codec {
  const findTimed = (): Codec => {
    const codec = find(); // throws if there is none
    return {
      compress: (encoder) => codec.compress(encoder),
      async decompress(bytes) {
        const startMs = performance.now();
        try {
          return await codec.decompress(bytes);
        } finally {
          totalMs += performance.now() - startMs;
        }
      },
    };
  };
  timedCodecs.add(findTimed);
  return findTimed;
}
