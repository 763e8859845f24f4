import type { LogRange, OffsetCommit, PartitionAssignment } from "../driver.ts";
import { OffsetLedger } from "./offset-ledger.ts";

/** What is known of one partition while it is held. */
export interface HeldPartition {
  readonly assignment: PartitionAssignment;
  readonly ledger: OffsetLedger;
  highWatermark: bigint | null;
  /** Where it started; or, if the driver does not say that, as far as the last answer of the brokers tells. For lag before anything is handled. */
  startedAt: bigint | null;
  /** The driver has said where it starts. */
  isLocated: boolean;
  /** It is about to be given up. What is in flight is still handled and committed, and nothing more is taken. */
  isGoing: boolean;
}

/** The partitions that this member holds, each with the ledger of its assignment. */
export class PartitionLedgers {
  readonly #held = new Map<PartitionAssignment, HeldPartition>();

  assign(assignments: readonly PartitionAssignment[]): void {
    for (const assignment of assignments) {
      this.#held.set(assignment, {
        assignment,
        ledger: new OffsetLedger(),
        highWatermark: null,
        startedAt: null,
        isLocated: false,
        isGoing: false,
      });
    }
  }

  /** Keeps the ends of the logs, as the brokers report them, for lag. They move even if nothing is fetched. */
  learnRanges(ranges: readonly LogRange[]): void {
    for (const { assignment, start, end, committed = null } of ranges) {
      const held = this.#held.get(assignment);
      if (held !== undefined) {
        held.highWatermark = end;
        if (held.isLocated) {
          continue;
        }
        // A partition starts at the group's offset, or where retention has moved the log's start to. In an empty log, every start is its end.
        held.startedAt = start === end ? end : committed === null ? held.startedAt : committed > start ? committed : start;
      }
    }
  }

  /** The driver has found out where the partition starts. */
  startsAt(assignment: PartitionAssignment, offset: bigint): void {
    const held = this.#held.get(assignment);
    if (held !== undefined) {
      held.startedAt = offset;
      held.isLocated = true;
    }
  }

  /**
   * The partition was moved to this offset. The next commit includes it, so that a restart goes on there even if nothing was read
   * meanwhile.
   */
  continueAt(assignment: PartitionAssignment, offset: bigint): void {
    this.#held.get(assignment)?.ledger.continueAt(offset);
  }

  /** From here on nothing more of these assignments is taken. */
  announceRelease(assignments: readonly PartitionAssignment[]): void {
    for (const assignment of assignments) {
      const held = this.#held.get(assignment);
      if (held !== undefined) {
        held.isGoing = true;
      }
    }
  }

  /** From here on nothing of these assignments can be committed. */
  release(assignments: readonly PartitionAssignment[]): void {
    for (const assignment of assignments) {
      this.#held.delete(assignment);
    }
  }

  /** What is known of a partition. Undefined if the assignment is over. */
  of(assignment: PartitionAssignment): HeldPartition | undefined {
    return this.#held.get(assignment);
  }

  /** This member holds it, and it is not about to go. */
  holds(assignment: PartitionAssignment): boolean {
    return this.#held.get(assignment)?.isGoing === false;
  }

  held(): IterableIterator<HeldPartition> {
    return this.#held.values();
  }

  /** Every watermark that the broker does not have yet. */
  uncommitted(): OffsetCommit[] {
    const offsets: OffsetCommit[] = [];
    for (const { assignment, ledger } of this.#held.values()) {
      const offset = ledger.uncommitted;
      if (offset !== null) {
        offsets.push({ assignment, offset });
      }
    }
    return offsets;
  }

  markCommitted(offsets: readonly OffsetCommit[]): void {
    for (const { assignment, offset } of offsets) {
      this.#held.get(assignment)?.ledger.markCommitted(offset);
    }
  }
}
