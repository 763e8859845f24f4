import type { PartitionAssignment } from "@cdckit/consumer";
import type { Consumer } from "kafkajs";
import type { Assignments, Held } from "./assignments.ts";
import type { Start } from "./starts.ts";

/** What kafkajs fetches of the partitions that are held, and from where. */
export class PartitionControl {
  readonly #consumer: Consumer;
  readonly #assignments: Assignments;

  constructor(consumer: Consumer, assignments: Assignments) {
    this.#consumer = consumer;
    this.#assignments = assignments;
  }

  /** What is not current any more is left out: it must not hold up a new assignment of the same partition. */
  setPaused(assignments: readonly PartitionAssignment[], isPaused: boolean): void {
    for (const assignment of assignments) {
      const held = this.#assignments.held(assignment);
      if (held !== undefined) {
        held.isPaused = isPaused;
        this.apply(assignment);
      }
    }
  }

  /** Stops, or resumes, the fetches of a partition for the driver's own reasons. */
  hold(held: Held, isHeld: boolean): void {
    if (held.isHeld !== isHeld) {
      held.isHeld = isHeld;
      if (this.#assignments.held(held.assignment) === held) {
        this.apply(held.assignment);
      }
    }
  }

  /** Lets a partition go from where it starts. */
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

  /** kafkajs keeps what was paused in an older generation paused, and nobody would resume it: each assignment is told anew. */
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
