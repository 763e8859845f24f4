import type { PartitionAssignment } from "@cdckit/consumer";
import type { Consumer } from "kafkajs";
import type { Assignments, Held } from "./assignments.ts";
import type { Start } from "./starts.ts";

/** Says which partitions kafkajs fetches, and from which offset. */
export class PartitionControl {
  readonly #consumer: Consumer;
  readonly #assignments: Assignments;

  constructor(consumer: Consumer, assignments: Assignments) {
    this.#consumer = consumer;
    this.#assignments = assignments;
  }

  /** Assignments that are over are left out, because a pause would stop the new assignment of the same partition. */
  setPaused(assignments: readonly PartitionAssignment[], isPaused: boolean): void {
    for (const assignment of assignments) {
      const held = this.#assignments.held(assignment);
      if (held !== undefined) {
        held.isPaused = isPaused;
        this.apply(assignment);
      }
    }
  }

  /** Stops or resumes the fetches of a partition, apart from pauses by the consumer. */
  hold(held: Held, isHeld: boolean): void {
    if (held.isHeld !== isHeld) {
      held.isHeld = isHeld;
      if (this.#assignments.held(held.assignment) === held) {
        this.apply(held.assignment);
      }
    }
  }

  /** Starts a partition at its offset. */
  start({ assignment, offset, committed }: Start): void {
    const held = this.#assignments.held(assignment);
    if (held !== undefined) {
      held.expected = offset;
      held.reached = committed;
      held.committedTo = null;
      held.handledTo = offset;
      held.isStarting = false;
      this.seek(assignment, offset);
      this.apply(assignment);
    }
  }

  seek({ topic, partition }: PartitionAssignment, offset: bigint): void {
    this.#consumer.seek({ topic, partition, offset: String(offset) });
  }

  /** Pauses or resumes a partition in kafkajs. Each new assignment needs it, because kafkajs keeps pauses of older generations. */
  apply(assignment: PartitionAssignment): void {
    const held = this.#assignments.held(assignment);
    const partitions = [{ topic: assignment.topic, partitions: [assignment.partition] }];
    if (held === undefined || held.isPaused || held.isHeld || held.isStarting) {
      this.#consumer.pause(partitions);
    } else {
      this.#consumer.resume(partitions);
    }
  }
}
