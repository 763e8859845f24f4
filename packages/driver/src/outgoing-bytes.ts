import type { OutgoingRecord } from "@cdckit/consumer";

/** Bytes of one partition's records that are written together. A broker takes a mebibyte at most, unless it is configured otherwise. */
export const maxBatchBytes: number = 512 * 1024;

const bytesPerRecord = 64;
const bytesPerHeader = 16;

/** About so many bytes a record takes in a batch. */
export function outgoingBytes({ key, value, headers }: OutgoingRecord): number {
  const bytes = (key?.length ?? 0) + (value?.length ?? 0) + bytesPerRecord;
  return headers.reduce((sum, [name, one]) => sum + bytesPerHeader + name.length + (one?.length ?? 0), bytes);
}
