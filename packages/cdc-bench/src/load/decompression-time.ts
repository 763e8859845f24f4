import { performance } from "node:perf_hooks";
import type { KafkaJsCodecs } from "@cdckit/kafkajs";
import { type CompressionName, type Decompress, decompress } from "@cdckit/record-batch";

let totalMs = 0;

/** How long batches have been decompressed in this process so far, in milliseconds. A reading is the difference of two looks. */
export function decompressedMs(): number {
  return totalMs;
}

/** The decompressions that every driver has, timed. */
export const timedCodecs: Required<KafkaJsCodecs> = {
  gzip: timed("gzip"),
  snappy: timed("snappy"),
  lz4: timed("lz4"),
  zstd: timed("zstd"),
};

function timed(compression: CompressionName): Decompress {
  return (bytes, maxBytes) => {
    const startMs = performance.now();
    try {
      return decompress(compression, bytes, { maxDecompressedBytes: maxBytes });
    } finally {
      totalMs += performance.now() - startMs;
    }
  };
}
