import type { DriverSession, OffsetCommit, PartitionAssignment, Subscription } from "../driver.ts";
import type { PartitionLedgers } from "./partition-ledgers.ts";

/** The partitions that the consumer itself has paused, of those that it holds. If nothing is fetched because of that, the client is not to blame. */
export class PartitionPauses {
  readonly #session: () => DriverSession | undefined;
  readonly #ledgers: PartitionLedgers;
  /** Partitions whose start position is being asked for. */
  readonly #starting = new Set<PartitionAssignment>();
  #isAllPaused = false;

  constructor(session: () => DriverSession | undefined, ledgers: PartitionLedgers) {
    this.#session = session;
    this.#ledgers = ledgers;
  }

  /** Pauses every partition, or resumes them. */
  setAll(isPaused: boolean): void {
    if (isPaused !== this.#isAllPaused) {
      this.#isAllPaused = isPaused;
      const held = [...this.#ledgers.held()].map(({ assignment }) => assignment);
      this.#session()?.[isPaused ? "pause" : "resume"](held);
    }
  }

  /** Partitions that are assigned while all are paused are paused, too. */
  assigned(assignments: readonly PartitionAssignment[]): void {
    if (this.#isAllPaused) {
      this.#session()?.pause(assignments);
    }
  }

  isPaused(assignment: PartitionAssignment): boolean {
    return this.#isAllPaused || this.#starting.has(assignment);
  }

  /** Asks the same question. The partitions that it asks about count as paused until it is answered. */
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
