import type { DriverSink } from "@cdckit/consumer";
import { giveUp } from "@cdckit/driver";
import type { HeldPartitions } from "./assignments.ts";
import { driverClosed, KafkaJsDriverError } from "./errors.ts";
import type { Heartbeats } from "./heartbeat.ts";
import type { JoinRequest } from "./join-gate.ts";
import type { PartitionControl } from "./partition-control.ts";

export interface GivingUpParts {
  readonly sink: DriverSink;
  readonly assignments: HeldPartitions;
  readonly control: Pick<PartitionControl, "holdAll">;
  readonly heartbeats: Heartbeats;
  /** Aborted when the session is closed. */
  readonly over: AbortSignal;
  /** The session is closed, or has failed. */
  readonly isOver: () => boolean;
}

/** Gives partitions up: the consumer is asked to let go of them, and kafkajs joins the group again after that. */
export class GivingUp {
  readonly #parts: GivingUpParts;
  #inProgress: { readonly how: "revoked" | "lost"; readonly done: Promise<void> } | undefined;

  constructor(parts: GivingUpParts) {
    this.#parts = parts;
  }

  /** Gives all partitions up. Offsets of revoked partitions can be committed until the consumer has let go of them. */
  all(how: "revoked" | "lost"): Promise<void> {
    const { assignments, control, isOver } = this.#parts;
    const going = assignments.all();
    if (going.length === 0 || isOver() || this.#inProgress?.how === how) {
      return this.#inProgress?.done ?? Promise.resolve();
    }
    if (how === "revoked") {
      // kafkajs goes on fetching until it joins again. After a refused commit it has to: its next batch is what makes it join.
      control.holdAll();
    }
    const done = giveUp(this.#parts, going, how).finally(() => {
      this.#inProgress = this.#inProgress === inProgress ? undefined : this.#inProgress;
    });
    const inProgress = { how, done };
    this.#inProgress = inProgress;
    return done;
  }

  /** Resolves when the consumer has let go of its partitions. The group may be joined again then. */
  async beforeJoin({ memberId }: JoinRequest): Promise<void> {
    const { heartbeats, over } = this.#parts;
    // No rebalance was announced if the session had expired, or if the metadata of the topics has changed.
    await heartbeats.during(this.all(memberId === "" ? "lost" : "revoked"));
    if (over.aborted) {
      throw new KafkaJsDriverError("client-crashed", driverClosed);
    }
  }
}
