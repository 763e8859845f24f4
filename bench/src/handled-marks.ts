/** By topic and partition: how often each offset was handled. */
export type MarksByPlace = Readonly<Record<string, Uint8Array>>;

export interface MarksVerdict {
  readonly records: number;
  readonly missing: number;
  readonly repeated: number;
}

/** How often each record was handled, in memory that is taken at the start: what it measures must not grow by it. */
export class HandledMarks {
  readonly #marks = new Map<string, Uint8Array>();

  constructor(topics: Readonly<Record<string, number>>, recordsPerPartition: number) {
    for (const [topic, partitions] of Object.entries(topics)) {
      for (let partition = 0; partition < partitions; partition++) {
        // Filled, because the system gives pages only when they are written to.
        this.#marks.set(placeOf(topic, partition), new Uint8Array(recordsPerPartition).fill(0));
      }
    }
  }

  mark(topic: string, partition: number, offset: bigint): void {
    const marks = this.#marks.get(placeOf(topic, partition));
    const at = Number(offset);
    if (marks === undefined || at >= marks.length) {
      throw new RangeError(`${topic}[${partition}]@${offset} was handled and never written`);
    }
    marks[at] = Math.min(255, (marks[at] ?? 0) + 1);
  }

  toObject(): MarksByPlace {
    return Object.fromEntries(this.#marks);
  }
}

/** Holds the marks of all members against the ends of the logs: every offset once, whoever handled it. */
export function judgeMarks(members: readonly MarksByPlace[], ends: ReadonlyMap<string, number>): MarksVerdict {
  let [records, missing, repeated] = [0, 0, 0];
  for (const [place, end] of ends) {
    const marks = members.map((member) => member[place]);
    for (let offset = 0; offset < end; offset++) {
      const times = marks.reduce((sum, own) => sum + (own?.[offset] ?? 0), 0);
      records++;
      missing += times === 0 ? 1 : 0;
      repeated += times > 1 ? 1 : 0;
    }
  }
  return { records, missing, repeated };
}

export function placeOf(topic: string, partition: number): string {
  return `${topic}[${partition}]`;
}
