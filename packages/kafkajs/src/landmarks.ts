import type { PartitionAssignment } from "@cdckit/consumer";

/** A record of the log: its offset, its timestamp, and the leader epoch in which it was written. */
export interface Landmark {
  readonly offset: bigint;
  readonly timestamp: string;
  /** -1 if the brokers do not keep it. */
  readonly leaderEpoch: number;
}

/** The part of kafkajs' messages that is used here. `batchContext` is missing in its types. */
export interface MessageInBatch {
  readonly offset: string;
  readonly timestamp: string;
  readonly batchContext?: { readonly partitionLeaderEpoch?: number };
}

/** The first and last records of each assignment's batches, until they are committed. */
const noted = new WeakMap<PartitionAssignment, Landmark[]>();

/**
 * Remembers the first and the last record of a batch if the brokers have no topic ids. A record before a position then tells two topics of one
 * name apart: in the other topic, the record at that offset has another timestamp or leader epoch.
 */
export function noteLandmarks(assignment: PartitionAssignment, messages: readonly MessageInBatch[]): void {
  const [first] = messages;
  const last = messages.at(-1);
  if (first !== undefined && last !== undefined && (assignment.topicId ?? null) === null) {
    const all = noted.get(assignment) ?? [];
    all.push(landmarkOf(first), landmarkOf(last));
    noted.set(assignment, all);
  }
}

/** The last landmark before an offset that is committed. Earlier ones are forgotten. */
export function landmarkBefore(assignment: PartitionAssignment, offset: bigint): Landmark | null {
  const all = noted.get(assignment) ?? [];
  const at = all.findLastIndex((landmark) => landmark.offset < offset);
  if (at > 0) {
    all.splice(0, at);
  }
  return at < 0 ? null : (all[0] ?? null);
}

/** Whether another record stands at the landmark's offset. If compaction has removed the record, nothing is known: false. */
export function isReplaced(landmark: Landmark, messages: readonly MessageInBatch[]): boolean {
  const there = messages.find(({ offset }) => BigInt(offset) === landmark.offset);
  if (there === undefined) {
    return false;
  }
  const { timestamp, leaderEpoch } = landmarkOf(there);
  return timestamp !== landmark.timestamp || leaderEpoch !== landmark.leaderEpoch;
}

function landmarkOf({ offset, timestamp, batchContext }: MessageInBatch): Landmark {
  return { offset: BigInt(offset), timestamp, leaderEpoch: batchContext?.partitionLeaderEpoch ?? -1 };
}
