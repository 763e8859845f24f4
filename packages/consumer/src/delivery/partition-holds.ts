import type { DriverSession, OffsetCommit, PartitionAssignment, Subscription } from "../driver.ts";
import type { PartitionLedgers } from "./partition-ledgers.ts";

/** What this side holds back of the partitions: where nothing is fetched because of it, the client is not to blame. */
export class PartitionHolds {
  readonly #session: () => DriverSession | undefined;
  readonly #ledgers: PartitionLedgers;
  /** Where they start is still to be answered. */
  readonly #starting = new Set<PartitionAssignment>();
  #isAllHeld = false;

  constructor(session: () => DriverSession | undefined, ledgers: PartitionLedgers) {
    this.#session = session;
    this.#ledgers = ledgers;
  }

  /** Pauses every partition, or resumes them. */
  setAll(isHeld: boolean): void {
    if (isHeld !== this.#isAllHeld) {
      this.#isAllHeld = isHeld;
      const held = [...this.#ledgers.held()].map(({ assignment }) => assignment);
      this.#session()?.[isHeld ? "pause" : "resume"](held);
    }
  }

  /** What comes while all are held is held too. */
  assigned(assignments: readonly PartitionAssignment[]): void {
    if (this.#isAllHeld) {
      this.#session()?.pause(assignments);
    }
  }

  isHeld(assignment: PartitionAssignment): boolean {
    return this.#isAllHeld || this.#starting.has(assignment);
  }

  /** The same question; what it asks about counts as held until it is answered. */
  whileAsked(startAt: NonNullable<Subscription["startAt"]>): NonNullable<Subscription["startAt"]> {
    return async (assignments): Promise<readonly OffsetCommit[]> => {
      for (const assignment of assignments) {
        this.#starting.add(assignment);
      }
      try {
        return await startAt(assignments);
      } finally {
        for (const assignment of assignments) {
          this.#starting.delete(assignment);
        }
      }
    };
  }
}
