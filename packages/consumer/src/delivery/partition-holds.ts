import type { DriverSession, OffsetCommit, PartitionAssignment, Subscription } from "../driver.ts";
import type { PartitionLedgers } from "./partition-ledgers.ts";

/** The partitions that the consumer itself holds back. If nothing is fetched because of that, the client is not to blame. */
export class PartitionHolds {
  readonly #session: () => DriverSession | undefined;
  readonly #ledgers: PartitionLedgers;
  /** Partitions whose start position is being asked for. */
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

  /** Partitions that are assigned while all are held are held too. */
  assigned(assignments: readonly PartitionAssignment[]): void {
    if (this.#isAllHeld) {
      this.#session()?.pause(assignments);
    }
  }

  isHeld(assignment: PartitionAssignment): boolean {
    return this.#isAllHeld || this.#starting.has(assignment);
  }

  /** Asks the same question. The partitions that it asks about count as held until it is answered. */
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
