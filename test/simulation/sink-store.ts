import type { CdcEvent } from "@cdckit/decode";
import type { OffsetCommit, PartitionAssignment, SinkBatch } from "@cdckit/consumer";

export interface SinkStoreOptions {
  readonly name: string;
  readonly violate: (what: string) => void;
  readonly applied: () => void;
  /** Leaves out the fence: a bug. */
  readonly isUnfenced: boolean;
  /** The topic's id as it is now. */
  readonly topicId: () => string;
}

interface Checkpoint {
  readonly offset: bigint;
  readonly topicId: string | null;
}

/** The far side of a sink: rows and checkpoints in one place, whoever writes them. */
export class SinkStore {
  readonly name: string;
  readonly #options: SinkStoreOptions;
  readonly #rows = new Set<number>();
  readonly #checkpoints = new Map<number, Checkpoint>();
  readonly #owners = new Map<number, PartitionAssignment>();
  /** Writes of owners that were fenced. */
  refused = 0;

  constructor(options: SinkStoreOptions) {
    this.#options = options;
    this.name = options.name;
  }

  has(id: number): boolean {
    return this.#rows.has(id);
  }

  /** Null as well where it is of a topic that was there before. */
  checkpoint(partition: number): bigint | null {
    const checkpoint = this.#checkpoints.get(partition);
    return checkpoint === undefined || checkpoint.topicId !== this.#options.topicId() ? null : checkpoint.offset;
  }

  claim(assignments: readonly PartitionAssignment[]): readonly OffsetCommit[] {
    return assignments.flatMap((assignment) => {
      this.#owners.set(assignment.partition, assignment);
      const checkpoint = this.#checkpoints.get(assignment.partition);
      return checkpoint === undefined ? [] : [{ assignment, ...checkpoint }];
    });
  }

  /** Both or neither. */
  apply({ assignment, events, nextOffset }: SinkBatch): void {
    const { partition } = assignment;
    if (this.#owners.get(partition) !== assignment && !this.#options.isUnfenced) {
      this.refused++;
      throw Object.assign(new Error("another member has claimed the partition"), { code: "fenced" });
    }
    const topicId = assignment.topicId ?? null;
    const last = this.#checkpoints.get(partition);
    const before = last?.topicId === topicId ? last.offset : 0n;
    if (nextOffset < before) {
      this.#options.violate(`the checkpoint of ${this.name} in ${partition} went back from ${before} to ${nextOffset}`);
    }
    for (const event of events) {
      this.#addRow(event);
    }
    this.#checkpoints.set(partition, { offset: nextOffset, topicId });
    this.#options.applied();
  }

  #addRow(event: CdcEvent): void {
    const { id, part } = event as unknown as { readonly id: number; readonly part: number }; // as the decoder made it
    if (part === 0 && this.#rows.has(id)) {
      const { partition, offset } = event.record;
      this.#options.violate(`${partition}:${offset} was written to ${this.name} twice`);
    }
    this.#rows.add(id);
  }
}
