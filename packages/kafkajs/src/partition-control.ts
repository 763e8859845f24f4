import type { PartitionAssignment } from "@cdckit/consumer";
import type { Place, Start } from "@cdckit/driver";
import type { Consumer } from "kafkajs";
import type { Held, HeldPartitions } from "./assignments.ts";

/** Says which partitions kafkajs fetches, and from which offset. */
export class PartitionControl {
  readonly #consumer: Consumer;
  readonly #assignments: HeldPartitions;
  /** Whether kafkajs has joined its group, and has not left it since. Without a group, its pauses, resumes and seeks throw. */
  #hasGroup = false;

  constructor(consumer: Consumer, assignments: HeldPartitions) {
    this.#consumer = consumer;
    this.#assignments = assignments;
  }

  /** kafkajs has joined its group. */
  joined(): void {
    this.#hasGroup = true;
  }

  /** kafkajs has left its group. What it is told until it joins again has no effect: each new assignment is told everything again. */
  left(): void {
    this.#hasGroup = false;
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

  /** kafkajs' offset of the partition is out of range, or no longer: until then, it fetches nothing of it. */
  setOutOfRange(held: Held, isOutOfRange: boolean): void {
    held.isOutOfRange = isOutOfRange;
    if (this.#assignments.held(held.assignment) === held) {
      this.apply(held);
    }
  }

  /** Stops the fetches of every partition: what came of them would be dropped, and kafkajs would fetch it again and again. */
  holdAll(): void {
    const all = this.#assignments.all();
    for (const held of all) {
      held.isHeld = true;
    }
    this.#pause(all.map(({ assignment }) => assignment));
  }

  /** Stops the fetches of partitions that were assigned after the session has failed. */
  refuse(memberAssignment: Readonly<Record<string, readonly number[]>>): void {
    this.#pause(Object.entries(memberAssignment).flatMap(([topic, partitions]) => partitions.map((partition) => ({ topic, partition }))));
  }

  /** Starts a partition at its offset. */
  start(held: Held, start: Start): void {
    this.#assignments.started(held, start);
    this.seek(held.assignment, start.offset);
    this.apply(held);
  }

  seek({ topic, partition }: PartitionAssignment, offset: bigint): void {
    if (this.#hasGroup) {
      this.#consumer.seek({ topic, partition, offset: String(offset) });
    }
  }

  /** Pauses or resumes a held partition in kafkajs. Each new assignment needs it, because kafkajs keeps pauses of older generations. */
  apply({ assignment, isPaused, isHeld, isStarting, isOutOfRange }: Held): void {
    if (isPaused || isHeld || isStarting || isOutOfRange) {
      this.#pause([assignment]);
    } else if (this.#hasGroup) {
      this.#consumer.resume(toTopicPartitions([assignment]));
    }
  }

  #pause(places: readonly Place[]): void {
    if (this.#hasGroup && places.length > 0) {
      this.#consumer.pause(toTopicPartitions(places));
    }
  }
}

function toTopicPartitions(places: readonly Place[]): { topic: string; partitions: number[] }[] {
  return places.map(({ topic, partition }) => ({ topic, partitions: [partition] }));
}
