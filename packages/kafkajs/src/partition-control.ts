import type { PartitionAssignment } from "@cdckit/consumer";
import type { Start } from "@cdckit/driver";
import type { Consumer } from "kafkajs";
import type { Held, HeldPartitions } from "./assignments.ts";

/** Says which partitions kafkajs fetches, and from which offset. */
export class PartitionControl {
  readonly #consumer: Consumer;
  readonly #assignments: HeldPartitions;

  constructor(consumer: Consumer, assignments: HeldPartitions) {
    this.#consumer = consumer;
    this.#assignments = assignments;
  }

  /** Assignments that are over are left out, because a pause would stop the new assignment of the same partition. */
  setPaused(assignments: readonly PartitionAssignment[], isPaused: boolean): void {
    for (const held of this.#assignments.heldOf(assignments)) {
      held.isPaused = isPaused;
      this.apply(held);
    }
  }

  /** Stops or resumes the fetches of a partition, apart from pauses by the consumer. */
  hold(held: Held, isHeld: boolean): void {
    if (held.isHeld !== isHeld) {
      held.isHeld = isHeld;
      if (this.#assignments.held(held.assignment) === held) {
        this.apply(held);
      }
    }
  }

  /** Starts a partition at its offset. */
  start(held: Held, start: Start): void {
    this.#assignments.started(held, start);
    this.seek(held.assignment, start.offset);
    this.apply(held);
  }

  seek({ topic, partition }: PartitionAssignment, offset: bigint): void {
    this.#consumer.seek({ topic, partition, offset: String(offset) });
  }

  /** Pauses or resumes a held partition in kafkajs. Each new assignment needs it, because kafkajs keeps pauses of older generations. */
  apply({ assignment: { topic, partition }, isPaused, isHeld, isStarting }: Held): void {
    const partitions = [{ topic, partitions: [partition] }];
    if (isPaused || isHeld || isStarting) {
      this.#consumer.pause(partitions);
    } else {
      this.#consumer.resume(partitions);
    }
  }
}
