import type { CdcEvent } from "@cdckit/decode";
import type { OffsetCommit, PartitionAssignment, SinkBatch } from "@cdckit/consumer";

export interface SinkStoreOptions {
  readonly name: string;
  readonly violate: (what: string) => void;
  readonly applied: () => void;
  /** Leaves out the fence: a bug. */
  readonly isUnfenced: boolean;
}

/** The far side of a sink: rows and checkpoints in one place, whoever writes them. */
export class SinkStore {
  readonly name: string;
  readonly #options: SinkStoreOptions;
  readonly #rows = new Set<number>();
  readonly #checkpoints = new Map<number, bigint>();
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

  checkpoint(partition: number): bigint | null {
    return this.#checkpoints.get(partition) ?? null;
  }

  claim(assignments: readonly PartitionAssignment[]): readonly OffsetCommit[] {
    return assignments.flatMap((assignment) => {
      this.#owners.set(assignment.partition, assignment);
      const offset = this.checkpoint(assignment.partition);
      return offset === null ? [] : [{ assignment, offset }];
    });
  }

  /** Both or neither. */
  apply({ assignment, events, nextOffset }: SinkBatch): void {
    const { partition } = assignment;
    if (this.#owners.get(partition) !== assignment && !this.#options.isUnfenced) {
      this.refused++;
      throw Object.assign(new Error("another member has claimed the partition"), { code: "fenced" });
    }
    const before = this.#checkpoints.get(partition) ?? 0n;
    if (nextOffset < before) {
      this.#options.violate(`the checkpoint of ${this.name} in ${partition} went back from ${before} to ${nextOffset}`);
    }
    for (const event of events) {
      this.#addRow(event);
    }
    this.#checkpoints.set(partition, nextOffset);
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
