import { KafkaJsDriverError } from "../errors.ts";

const largestOutputBytes = 128 * 1024 * 1024;
const largestRatio = 64;
const freeBytes = 1024 * 1024;

/** What a batch of this many compressed bytes may at most become: a few bytes must not fill the memory. */
export function outputLimit(compressedBytes: number): number {
  return Math.min(largestOutputBytes, largestRatio * compressedBytes + freeBytes);
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
