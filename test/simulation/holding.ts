import type { FetchedBatch, PartitionAssignment } from "@cdckit/consumer";

/** One partition in the hands of one process during one assignment, as the broker's side of the port saw it. */
export class Holding {
  readonly assignment: PartitionAssignment;
  /** Gone: nothing of it may start any more. */
  state: "held" | "going" | "gone" = "held";
  /** When its drain began; null before. */
  goingSinceMs: number | null = null;
  /** Where its first batch begins; null before one came. */
  start: bigint | null = null;
  /** Handler calls and writes to sinks that are under way. */
  active = 0;
  /** When one of them last ended; null before. */
  workedAtMs: number | null = null;
  /** The highest commit that was asked for. */
  asked: bigint | null = null;
  /** The last commit has not ended well, or has not ended. */
  isCommitOpen = false;
  /** Why what was handled here may come again; null after a clean end. */
  excuse: string | null = null;
  /** What was handled here last, by key; by -1 whatever its key. */
  readonly last: Map<number, bigint> = new Map<number, bigint>();
  /** Offsets of the records that were handed over. */
  readonly handed: Set<bigint> = new Set<bigint>();
  /** Events that were handled here. */
  readonly applied: Set<string> = new Set<string>();
  /** Keys with a dead letter, and its offset. */
  readonly parked: Map<number, bigint> = new Map<number, bigint>();
  /** Batches that were handed over. */
  batches: FetchedBatch[] = [];

  constructor(assignment: PartitionAssignment) {
    this.assignment = assignment;
  }

  /** It began before the one before it had ended: what of the two writes a dead letter cannot be told. */
  overlaps = false;

  /** The group has gone on without its member, whose session had run out: nothing of it may start. */
  isExpired = false;

  /** The group goes on without its member. */
  expire(): void {
    this.isExpired = true;
  }

  /** A handler call or a write to a sink ends, well or not. */
  workEnded(atMs: number): void {
    this.active--;
    this.workedAtMs = atMs;
  }

  excuseBy(why: string): void {
    this.excuse ??= why;
  }

  /** Nothing of it may start from here on. */
  end(): void {
    if (this.state === "gone") {
      return;
    }
    this.state = "gone";
    if (this.isCommitOpen) {
      this.excuseBy("its last commit did not end well");
    }
    if (this.active > 0) {
      this.excuseBy("work was under way at its end");
    }
  }

  toString(): string {
    const { topic, partition, epoch } = this.assignment;
    return `${topic}[${partition}]@${epoch}`;
  }
}
