import { RecordBatchError } from "../errors.ts";

/**
 * The highest compression ratio that is accepted. Real batches must pass: JSON with schema repeats 4.3 KB of schema in each message of 5 KB. The
 * zstd of Kafka's producers reaches a ratio of 65 for rows of a table (gzip 45, lz4 20, snappy 10), and of 280 for changes of the same few rows
 * (83, 27, 11).
 */
const maxRatio = 512;
const maxOutputBytes = 512 * 1024 * 1024;
/**
 * Beside the ratio: a large column may be of one kind alone, such as zeros or a text that repeats itself, and zstd packs it more than 4,000 times. An
 * update of a row of 1 MiB has it twice, and producers are set to send larger ones (`max.request.size`).
 */
const freeBytes = 16 * 1024 * 1024;

/** The largest output for this number of compressed bytes, if the user has set no limit. A few bytes thereby cannot fill the memory. */
export function outputLimit(compressedBytes: number): number {
  return Math.min(maxOutputBytes, maxRatio * compressedBytes + freeBytes);
}

export function tooLarge(codec: string, compressedBytes: number, maxBytes: number): RecordBatchError {
  return new RecordBatchError(
    "batch-too-large",
    `its ${compressedBytes} bytes of ${codec} become more than ${maxBytes} bytes. If you trust the topic, set maxDecompressedBytes (of the driver, or of the reader) to more, which then is the only limit. If not, move the group past this batch`,
    { expected: `at most ${maxBytes} bytes`, found: "more" },
  );
}

export function damaged(codec: string, what: string, cause?: unknown): RecordBatchError {
  return new RecordBatchError(
    "damaged-compression",
    `its ${codec} is damaged: ${what}. Fetch it again. If it stays so, the producer has written it so: start after this batch`,
    { cause },
  );
}
