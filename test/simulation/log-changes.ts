import type { AppendedRecord, VirtualClock } from "@cdckit/testkit";
import type { Oracle } from "./oracle.ts";
import type { PlannedRecord, Step } from "./plan.ts";
import type { WatchedBroker } from "./watched-broker.ts";

export interface LogChangesParts {
  readonly broker: WatchedBroker;
  readonly oracle: Oracle;
  readonly clock: VirtualClock;
  readonly random: () => number;
  /** A transaction has ended. */
  readonly ended: () => void;
}

/** What happens to the log while members read it; the oracle is told of all of it. */
export class LogChanges {
  readonly #parts: LogChangesParts;
  readonly #storedAtMs = new Map<number, number>();

  constructor(parts: LogChangesParts) {
    this.#parts = parts;
  }

  /** When a record was written. */
  storedAtMs(id: number): number {
    return this.#storedAtMs.get(id) ?? 0;
  }

  append(records: readonly PlannedRecord[]): void {
    for (const record of records) {
      const [stored] = this.#parts.broker.append("t", this.#appended(record));
      this.#storedAtMs.set(record.id, this.#parts.clock.nowMs());
      if (stored !== undefined) {
        this.#parts.oracle.stored(record, stored, "readable");
      }
    }
  }

  transact({ records, forMs, end }: Extract<Step, { what: "transaction" }>): void {
    const transaction = this.#parts.broker.transaction();
    const facts = records.flatMap((record) => {
      this.#storedAtMs.set(record.id, this.#parts.clock.nowMs());
      return transaction.append("t", this.#appended(record)).map((stored) => this.#parts.oracle.stored(record, stored, "open"));
    });
    this.#parts.clock.after(forMs, () => {
      for (const fact of facts.filter(({ state }) => state === "open")) {
        fact.state = end === "commit" ? "readable" : "void";
      }
      transaction[end]();
      this.#parts.ended();
    });
  }

  /** Retention: all but the last few records of a partition go. */
  deleteBefore(partition: number): void {
    const { end } = this.#parts.broker.log("t", partition);
    const to = end - BigInt(Math.floor(this.#parts.random() * 4));
    if (to > 0n) {
      this.#parts.broker.deleteBefore("t", partition, to);
      if (this.#parts.broker.committedNow(partition) === null) {
        this.#parts.oracle.vanished(partition, ({ offset }) => offset < to);
      }
    }
  }

  /** The topic is another one from here on; what was in the old one need not be handled any more. */
  recreate(records: readonly PlannedRecord[]): void {
    this.#parts.oracle.recreated();
    this.#parts.broker.recreateTopic("t");
    this.append(records);
  }

  /** Earlier records of the same key go. */
  compact(partition: number): void {
    this.#parts.broker.compact("t", partition);
    const { start, end } = this.#parts.broker.log("t", partition);
    const there = new Set(this.#parts.broker.read("t", partition, start, Number(end)).map(({ offset }) => offset));
    this.#parts.oracle.vanished(partition, ({ offset, state }) => state === "readable" && !there.has(offset));
  }

  #appended({ id, key, partition, gap }: PlannedRecord): AppendedRecord {
    const offset = this.#parts.broker.endOffset("t", partition) + BigInt(gap);
    return { key: key === 0 ? null : `k${key}`, value: String(id), partition, offset };
  }
}
