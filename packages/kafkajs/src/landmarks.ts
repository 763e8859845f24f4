import type { PartitionAssignment } from "@cdckit/consumer";
import { type Landmark, noteLandmarks } from "@cdckit/driver";
import { createRecordSetReader, type DecompressOptions, type RecordSet } from "@cdckit/record-batch";
import type { FetchedPartition } from "./wire/fetch-response.ts";

/** Remembers the first and the last record of a set if the brokers have no topic ids. */
export function noteRecordSet(set: RecordSet<PartitionAssignment>): void {
  if ((set.assignment.topicId ?? null) !== null || set.recordCount === 0) {
    return;
  }
  const walk = set.walk();
  walk.next();
  const first = walk.record;
  let last = first;
  while (walk.next()) {
    last = walk.record;
  }
  noteLandmarks(set.assignment, landmarkAt(set, first), landmarkAt(set, last));
}

function landmarkAt(set: RecordSet, record: number): Landmark {
  return { offset: set.offsetAt(record), timestamp: String(set.timestampAt(record)), leaderEpoch: set.leaderEpochAt(record) ?? -1 };
}

/** The attribute of a batch that holds a marker of a transaction, and where it stands. */
const controlBit = 0x20;
const controlBitAt = 22;
/** Where the message format stands. Only format 2 has markers. */
const magicAt = 16;

/**
 * The records of the first batch, those of aborted transactions included. A marker of a transaction is a record that no landmark is like: a consumer
 * has never read it.
 */
export async function landmarksIn(fetched: FetchedPartition, decompression: DecompressOptions): Promise<readonly Landmark[]> {
  const { bytes, fromOffset } = fetched;
  if (bytes[magicAt] === 2 && ((bytes[controlBitAt] ?? 0) & controlBit) !== 0) {
    return [{ offset: fromOffset, timestamp: "", leaderEpoch: -1 }];
  }
  const reader = createRecordSetReader({ ...fetched, abortedTransactions: [], assignment: null }, decompression);
  await reader.prepare();
  const set = reader.read();
  const landmarks: Landmark[] = [];
  for (const walk = set?.walk(); set !== null && walk?.next() === true; ) {
    landmarks.push(landmarkAt(set, walk.record));
  }
  return landmarks;
}
