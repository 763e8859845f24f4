import type { PartitionAssignment } from "@cdckit/consumer";
import { type Landmark, noteLandmarks } from "@cdckit/driver";
import type { RecordSet } from "@cdckit/record-batch";

/** The part of kafkajs' messages that is used here. `batchContext` is missing in its types. */
export interface MessageInBatch {
  readonly offset: string;
  /** Absent in Kafka's oldest message format, 0. */
  readonly timestamp?: string;
  readonly batchContext?: { readonly partitionLeaderEpoch?: number };
}

/** Remembers the first and the last record of a batch if the brokers have no topic ids. */
export function noteBatch(assignment: PartitionAssignment, messages: readonly MessageInBatch[]): void {
  const [first] = messages;
  const last = messages.at(-1);
  if (first !== undefined && last !== undefined && (assignment.topicId ?? null) === null) {
    noteLandmarks(assignment, landmarkOf(first), landmarkOf(last));
  }
}

export function landmarkOf({ offset, timestamp = "-1", batchContext }: MessageInBatch): Landmark {
  return { offset: BigInt(offset), timestamp, leaderEpoch: batchContext?.partitionLeaderEpoch ?? -1 };
}

/** The same for records in their bytes. */
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
