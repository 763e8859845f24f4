import type { PartitionAssignment } from "@cdckit/consumer";

/** A record that stood in the log: its offset, its timestamp, and the leader epoch in which it was written. */
export interface Landmark {
  readonly offset: bigint;
  readonly timestamp: string;
  /** -1 if the brokers keep none. */
  readonly leaderEpoch: number;
}

/** As much of kafkajs' messages as is looked at. It tells of each what batch it was in, and its types do not. */
export interface MessageInBatch {
  readonly offset: string;
  readonly timestamp: string;
  readonly batchContext?: { readonly partitionLeaderEpoch?: number };
}

/** Of each assignment, where its last batches began and ended, until that is committed. */
const noted = new WeakMap<PartitionAssignment, Landmark[]>();

/**
 * Remembers where a batch begins and ends, if the brokers tell no topic ids: a record before a position is then what tells two topics of one
 * name apart. In another topic, one of another time or another leader stands there.
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

/** The last landmark before an offset that is committed; those before it are not needed any more. */
export function landmarkBefore(assignment: PartitionAssignment, offset: bigint): Landmark | null {
  const all = noted.get(assignment) ?? [];
  const at = all.findLastIndex((landmark) => landmark.offset < offset);
  if (at > 0) {
    all.splice(0, at);
  }
  return at < 0 ? null : (all[0] ?? null);
}

/** Whether another record stands where the landmark stood. One that compaction took tells nothing. */
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
