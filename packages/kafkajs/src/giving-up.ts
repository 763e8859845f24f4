import type { DriverSink, PartitionAssignment } from "@cdckit/consumer";
import type { Assignments } from "./assignments.ts";
import { KafkaJsDriverError } from "./errors.ts";
import { keepBeating } from "./heartbeat.ts";
import type { JoinRequest } from "./join-gate.ts";

export interface GivingUpParts {
  readonly sink: DriverSink;
  readonly assignments: Assignments;
  readonly heartbeatIntervalMs: number;
  /** Aborted when the session is closed. */
  readonly over: AbortSignal;
  /** The session is closed, or has failed. */
  readonly isOver: () => boolean;
  /** A beat was answered: the group waits for this member. */
  readonly kept: () => void;
}

/** How partitions go: the consumer is asked to let go of them, and kafkajs joins the group again when it has. */
export class GivingUp {
  readonly #parts: GivingUpParts;
  #inProgress: { readonly how: "revoked" | "lost"; readonly done: Promise<void> } | undefined;
  /** Beats in the generation of the last batch; without a batch there is nothing to wait for. */
  heartbeat: (() => Promise<void>) | undefined;

  constructor(parts: GivingUpParts) {
    this.#parts = parts;
  }

  /** Gives all partitions up. Revoked ones can be committed until the sink is done with them. */
  all(how: "revoked" | "lost"): Promise<void> {
    const { assignments, isOver } = this.#parts;
    const going = assignments.current();
    if (going.length === 0 || isOver() || this.#inProgress?.how === how) {
      return this.#inProgress?.done ?? Promise.resolve();
    }
    const done = this.#release(going, how).finally(() => {
      this.#inProgress = this.#inProgress === inProgress ? undefined : this.#inProgress;
    });
    const inProgress = { how, done };
    this.#inProgress = inProgress;
    return done;
  }

  /** Resolves when the group may be joined again: not before the consumer is done with its partitions. */
  async beforeJoin({ memberId }: JoinRequest): Promise<void> {
    const { heartbeatIntervalMs, over, kept } = this.#parts;
    // Announced as a rebalance, or not at all: the session had run out, or the topics' metadata changed.
    const givenUp = this.all(memberId === "" ? "lost" : "revoked");
    const beat = async (): Promise<void> => this.heartbeat?.();
    await keepBeating(givenUp, beat, heartbeatIntervalMs, { lost: () => void this.all("lost"), kept }, over);
    if (over.aborted) {
      throw new KafkaJsDriverError("client-crashed", "the driver was closed");
    }
  }

  async #release(going: readonly PartitionAssignment[], how: "revoked" | "lost"): Promise<void> {
    const { assignments, sink } = this.#parts;
    assignments.announceRelease();
    if (how === "lost") {
      assignments.clear();
    }
    await sink.revoked(going, how);
    if (going.some((assignment) => assignments.isCurrent(assignment))) {
      assignments.clear();
    }
  }
}
