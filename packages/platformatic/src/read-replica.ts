import type { Held } from "./assignments.ts";

/** A replica that is read instead of the leader, because it stands in the rack of this process. */
export interface ReadReplica {
  readonly node: number;
  /** The leader is asked again after this time: a nearer replica may be there, or this one may be gone. */
  readonly untilMs: number;
}

/** After a replica has failed, the leader is read for so long, and is not told the rack: it may name the same replica for seconds. */
const leaderOnlyMs = 5_000;

/** The broker from which the partition is read now: the replica that the leader has named, or the leader. */
export function nodeToRead(held: Held, leader: number, nowMs: number): number {
  if (held.readReplica !== null && held.readReplica.untilMs <= nowMs) {
    held.readReplica = null;
  }
  return held.readReplica?.node ?? leader;
}

/** The leader has named a replica that is nearer. */
export function preferReplica(held: Held, node: number, maxAgeMs: number): void {
  held.readReplica = { node, untilMs: performance.now() + maxAgeMs };
}

/** The replica has not answered, or could not. The leader is read instead. */
export function giveUpReplica(held: Held): void {
  held.readReplica = null;
  held.leaderOnlyUntilMs = performance.now() + leaderOnlyMs;
}

/** Whether the leader may be told the rack, and may then name a replica. */
export function mayReadReplica(held: Held, nowMs: number): boolean {
  return held.leaderOnlyUntilMs <= nowMs;
}
