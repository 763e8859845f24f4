import type { PartitionAssignment } from "@cdckit/consumer";

/** A record of the log: its offset, its timestamp, and the leader epoch in which it was written. */
export interface Landmark {
  /** The offset of the record. */
  readonly offset: bigint;
  /** The record's timestamp, in milliseconds since the epoch, as text. */
  readonly timestamp: string;
  /** -1 if the brokers do not keep it. */
  readonly leaderEpoch: number;
}

/** The first and last records of each assignment's batches, until they are committed. */
const noted = new WeakMap<PartitionAssignment, Landmark[]>();

/**
 * Remembers the first and the last record of a batch, for brokers without topic ids. A record before a position then tells two topics of one
 * name apart: in the other topic, the record at that offset has another timestamp or leader epoch.
 */
export function noteLandmarks(assignment: PartitionAssignment, first: Landmark, last: Landmark): void {
  const all = noted.get(assignment) ?? [];
  all.push(first, last);
  noted.set(assignment, all);
}

/** The last landmark before an offset. Null if none is known. */
export function landmarkBefore(assignment: PartitionAssignment, offset: bigint): Landmark | null {
  return noted.get(assignment)?.findLast((landmark) => landmark.offset < offset) ?? null;
}

/** The same for an offset that is committed. Earlier landmarks are forgotten: offsets only go up. */
export function landmarkOfCommit(assignment: PartitionAssignment, offset: bigint): Landmark | null {
  const all = noted.get(assignment) ?? [];
  const at = all.findLastIndex((landmark) => landmark.offset < offset);
  if (at > 0) {
    all.splice(0, at);
  }
  return at < 0 ? null : (all[0] ?? null);
}

/** Whether another record stands at the landmark's offset. If compaction has removed the record, nothing is known: false. */
export function isReplacedIn(records: readonly Landmark[], landmark: Landmark): boolean {
  const there = records.find(({ offset }) => offset === landmark.offset);
  return there !== undefined && (there.timestamp !== landmark.timestamp || there.leaderEpoch !== landmark.leaderEpoch);
}
