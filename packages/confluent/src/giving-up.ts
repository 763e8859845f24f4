import type { DriverSink } from "@cdckit/consumer";
import { giveUp } from "@cdckit/driver";
import type { Held, HeldPartitions } from "./assignments.ts";
import type { PartitionControl } from "./partition-control.ts";

export interface GivingUpParts {
  readonly sink: DriverSink;
  readonly assignments: HeldPartitions;
  readonly control: PartitionControl;
  /** The session is closed, or has failed. */
  readonly isOver: () => boolean;
}

/**
 * Gives partitions up: the consumer is asked to let go of them, and the client is told after that. Until then it keeps them in the group and sends
 * heartbeats. librdkafka pauses its whole assignment meanwhile, so that the partitions that stay are not fetched either.
 */
export class GivingUp {
  readonly #parts: GivingUpParts;

  constructor(parts: GivingUpParts) {
    this.#parts = parts;
  }

  /** The client asks for these partitions, or says that they are lost. Never rejects. */
  async some(going: readonly Held[], how: "revoked" | "lost"): Promise<void> {
    const { assignments, control, isOver } = this.#parts;
    control.asked();
    if (isOver()) {
      assignments.release(going);
    } else {
      await giveUp(this.#parts, going, how);
    }
    control.letGo(going);
  }

  /**
   * The group has refused this member: whatever it holds is lost, also what it was giving up. The partitions stay held, which `giveUp` would not
   * leave them: the client has them until it asks for them, and `letGo` must find them then.
   */
  all(): void {
    const { sink, assignments, isOver } = this.#parts;
    const lost = assignments.all();
    assignments.announceRelease(lost);
    lost.forEach((held) => {
      held.isOver = true;
    });
    if (!isOver() && lost.length > 0) {
      void sink.revoked(
        lost.map(({ assignment }) => assignment),
        "lost",
      );
    }
  }
}
