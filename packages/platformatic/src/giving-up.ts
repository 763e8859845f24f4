import type { DriverSink } from "@cdckit/consumer";
import { giveUp } from "@cdckit/driver";
import type { Held, HeldPartitions } from "./assignments.ts";

export interface GivingUpParts {
  readonly sink: DriverSink;
  readonly assignments: HeldPartitions;
  /** The session is closed, or has failed. */
  readonly isOver: () => boolean;
}

/**
 * Gives partitions up: the consumer is asked to let go of them, and the group is told after that. Until then this member keeps them, sends
 * heartbeats, and reads the other partitions.
 */
export class GivingUp {
  readonly #parts: GivingUpParts;

  constructor(parts: GivingUpParts) {
    this.#parts = parts;
  }

  /** The group takes these partitions. Never rejects. */
  async some(going: readonly Held[]): Promise<void> {
    if (this.#parts.isOver()) {
      this.#parts.assignments.release(going);
    } else {
      await giveUp(this.#parts, going, "revoked");
    }
  }

  /** The group has removed this member: whatever it holds is lost, also what it was giving up. */
  all(): void {
    const { assignments, isOver } = this.#parts;
    if (isOver()) {
      assignments.clear();
    } else {
      void giveUp(this.#parts, assignments.all(), "lost");
    }
  }
}
