import { KafkaJsDriverError } from "../errors.ts";

/**
 * The highest compression ratio that is accepted. Real batches must pass: JSON with schema repeats 4.3 KB of schema in each message of 5 KB. The
 * zstd of Kafka's producers reaches a ratio of 65 for rows of a table (gzip 45, lz4 20, snappy 10), and of 280 for changes of the same few rows
 * (83, 27, 11).
 */
const maxRatio = 512;
const maxOutputBytes = 512 * 1024 * 1024;
const freeBytes = 1024 * 1024;

/** The largest output for this number of compressed bytes, so that a few bytes cannot fill the memory. */
export function outputLimit(compressedBytes: number): number {
  return Math.min(maxOutputBytes, maxRatio * compressedBytes + freeBytes);
}

export function tooLarge(codec: string, compressedBytes: number): KafkaJsDriverError {
  return new KafkaJsDriverError(
    "batch-unreadable",
    `a ${codec} batch of ${compressedBytes} bytes becomes more than ${outputLimit(compressedBytes)} bytes: use smaller batches (batch.size) if the producer is yours`,
  );
}

export function damaged(codec: string, what: string, cause?: unknown): KafkaJsDriverError {
  return new KafkaJsDriverError("batch-unreadable", `a ${codec} batch is damaged: ${what}`, { cause });
}
