import type { KafkaRecord } from "@cdckit/decode";

/** What kafkajs asks of a partition at most, by default. */
const maxBatchBytes = 1_048_576;

/**
 * The records with their bytes in the place in which a client has them: keys and values of one fetched batch are slices of one buffer, in the order of the
 * log. A recording's reader makes a buffer of each, all over the memory.
 */
export function inFetchedBatches(records: readonly KafkaRecord[]): readonly KafkaRecord[] {
  const batches: KafkaRecord[][] = [];
  let room = 0;
  for (const record of records) {
    const bytes = byteLengthOf(record);
    if (bytes > room) {
      batches.push([]);
      room = Math.max(maxBatchBytes, bytes);
    }
    batches.at(-1)?.push(record);
    room -= bytes;
  }
  return batches.flatMap(inOneBuffer);
}

function inOneBuffer(records: readonly KafkaRecord[]): readonly KafkaRecord[] {
  const buffer = Buffer.alloc(records.reduce((sum, record) => sum + byteLengthOf(record), 0));
  let end = 0;
  const placed = (bytes: Uint8Array | null): Buffer | null => {
    if (bytes === null) {
      return null;
    }
    const start = end;
    end += bytes.length;
    buffer.set(bytes, start);
    return buffer.subarray(start, end);
  };
  return records.map((record) => ({ ...record, key: placed(record.key), value: placed(record.value) }));
}

function byteLengthOf({ key, value }: KafkaRecord): number {
  return (key?.length ?? 0) + (value?.length ?? 0);
}
