import { BenchError } from "../bench-error.ts";
import type { OffsetTarget } from "./offset-target.ts";

/** Where a group stands in a partition. */
export interface GroupPosition {
  readonly topic: string;
  readonly partition: number;
  readonly startOffset: bigint;
  /** Where the first open transaction begins; the end of the log if there is none. */
  readonly stableOffset: bigint;
  /** The end of the log, with what open transactions have written: a client that reads uncommitted records may have committed a position there. */
  readonly endOffset: bigint;
  /** Null if the group has committed nothing there. */
  readonly committed: bigint | null;
}

/** A position, and where the group is to go on. */
export interface PlannedPosition extends GroupPosition {
  readonly next: bigint;
}

/** Records from the committed offset to the end of the log; null without a commit. */
export function lagOf(position: GroupPosition): bigint | null {
  const { committed, startOffset, endOffset } = position;
  if (committed === null || isBeyondEnd(position)) {
    return committed === null ? null : 0n;
  }
  return endOffset - (committed < startOffset ? startOffset : committed);
}

/** How many records the group has not handled, and the log does not have any more: retention has deleted them, or somebody. */
export function lostOf({ committed, startOffset }: GroupPosition): bigint {
  return committed !== null && committed < startOffset ? startOffset - committed : 0n;
}

/** Whether the commit is of records that the log does not have: its topic was recreated, or its log was truncated. */
export function isBeyondEnd({ committed, endOffset }: GroupPosition): boolean {
  return committed !== null && committed > endOffset;
}

/**
 * The next offset of each partition. For a time, `offsetsAt` has the first record of that time or later; a partition without one is at its end.
 * @throws BenchError if a log does not have the offset: a consumer would find it out of range
 */
export function planOffsets(
  positions: readonly GroupPosition[],
  target: OffsetTarget,
  offsetsAt: (position: GroupPosition) => bigint,
): readonly PlannedPosition[] {
  return positions.map((position) => ({ ...position, next: nextOf(position, target, offsetsAt) }));
}

function nextOf(position: GroupPosition, target: OffsetTarget, offsetsAt: (position: GroupPosition) => bigint): bigint {
  const { topic, partition, startOffset, stableOffset, endOffset } = position;
  switch (target.kind) {
    case "earliest":
      return startOffset;
    case "latest":
      return stableOffset; // what a transaction has written is read after its end
    case "time":
      return offsetsAt(position);
    case "offset":
      if (target.offset < startOffset || target.offset > endOffset) {
        throw new BenchError(
          "usage",
          `${topic}[${partition}] has no offset ${target.offset}: its log goes from ${startOffset} to ${endOffset}. Name another offset, or --partition.`,
        );
      }
      return target.offset;
  }
}
