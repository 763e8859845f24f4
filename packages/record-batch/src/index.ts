// From the bytes of a Fetch response to records that are walked in place.
export { createRecordSetReader } from "./record-set-reader.ts";
export type { RecordSetReader } from "./record-set-reader.ts";
export type { BatchesEnd } from "./batch-header.ts";
export type { AbortedTransaction, FetchedRecords } from "./fetched-records.ts";
export type { RecordSet } from "./record-set.ts";
export { maxBatchBytes } from "./options.ts";
export type { CompressionName, Decompress, RecordBatchOptions } from "./options.ts";

// Errors.
export { isRecordBatchError, RecordBatchError } from "./errors.ts";
export type { RecordBatchErrorCode, RecordBatchErrorOptions, RecordBatchPlace } from "./errors.ts";

// Its parts, for clients that unpack batches themselves.
export { AbortedProducers } from "./aborted-producers.ts";
export { decompress, decompressAsync } from "./codecs/decompress.ts";
export type { DecompressOptions } from "./codecs/decompress.ts";
export { crc32c } from "./crc32c.ts";
export { crc32cInScript } from "./crc32c-in-script.ts";
