import { KafkaJsDriverError } from "../errors.ts";

/**
 * How many times a batch may grow. It must let through what is real: JSON with schema repeats 4.3 KB of schema in each message of 5 KB, and
 * Kafka's own zstd packs rows of a table 65 times (gzip 45, lz4 20, snappy 10), and changes of the same few rows 280 times (83, 27, 11).
 */
const maxRatio = 512;
const maxOutputBytes = 512 * 1024 * 1024;
const freeBytes = 1024 * 1024;

/** What a batch of this many compressed bytes may at most become: a few bytes must not fill the memory. */
export function outputLimit(compressedBytes: number): number {
  return Math.min(maxOutputBytes, maxRatio * compressedBytes + freeBytes);
}

export function tooLarge(codec: string, compressedBytes: number): KafkaJsDriverError {
  return new KafkaJsDriverError(
    "batch-unreadable",
    `a ${codec} batch of ${compressedBytes} bytes becomes more than ${outputLimit(compressedBytes)} bytes; use smaller batches (batch.size) if it is yours`,
  );
}

export function damaged(codec: string, what: string, cause?: unknown): KafkaJsDriverError {
  return new KafkaJsDriverError("batch-unreadable", `a ${codec} batch is damaged: ${what}`, { cause });
}
