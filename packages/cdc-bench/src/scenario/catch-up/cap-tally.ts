/** Why a batch was handed on: which of its limits it met first. */
export type Cap = "max-events" | "max-bytes" | "max-ms";

/** Batches by what closed them. */
export type CapCounts = Readonly<Record<Cap, number>>;

export interface CapLimits {
  readonly maxEvents: number | null;
  readonly maxBytes: number | null;
}

interface Batch {
  readonly events: number;
  readonly bytes: number;
}

/**
 * Which cap closed each batch. The consumer does not say, but its rule does: a batch is closed when a limit is met, and also in front of a
 * record that would pass one. So a batch is judged when the next one of its partition begins.
 */
export class CapTally {
  readonly #limits: CapLimits;
  readonly #open = new Map<string, Batch>();
  readonly #counts: Record<Cap, number> = { "max-events": 0, "max-bytes": 0, "max-ms": 0 };

  constructor(limits: CapLimits) {
    this.#limits = limits;
  }

  /** @param first the bytes of the batch's first record, and how many events came of it */
  add(partition: string, batch: Batch, first: Batch): void {
    this.#judge(this.#open.get(partition), first);
    this.#open.set(partition, batch);
  }

  /** Judges the last batches, too: nothing came after them. */
  counts(): CapCounts {
    for (const batch of this.#open.values()) {
      this.#judge(batch, { events: 0, bytes: 0 });
    }
    this.#open.clear();
    return { ...this.#counts };
  }

  #judge(batch: Batch | undefined, next: Batch): void {
    if (batch !== undefined) {
      this.#counts[capOf(this.#limits, batch, next)]++;
    }
  }
}

/** What closed this batch, if that record came after it. Both caps at once count as `max-events`. */
export function capOf({ maxEvents, maxBytes }: CapLimits, batch: Batch, next: Batch): Cap {
  if (maxEvents !== null && (batch.events >= maxEvents || batch.events + next.events > maxEvents)) {
    return "max-events";
  }
  if (maxBytes !== null && (batch.bytes >= maxBytes || batch.bytes + next.bytes > maxBytes)) {
    return "max-bytes";
  }
  return "max-ms";
}
