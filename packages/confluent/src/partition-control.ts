import type { Logger, PartitionAssignment } from "@cdckit/consumer";
import type { Held, HeldPartitions } from "./assignments.ts";
import { BrokerWaker } from "./broker-waker.ts";
import type { ConsumeLoop } from "./consume-loop.ts";
import type { LowLevelConsumer } from "./low-level-client.ts";

export interface PartitionControlParts {
  readonly consumer: LowLevelConsumer;
  readonly assignments: HeldPartitions;
  readonly loop: Pick<ConsumeLoop, "between">;
  readonly logger: Logger;
}

/**
 * Says which partitions the client fetches, and from which offset. A partition comes to the client when its start is known. The client has no
 * other way to move one that has stopped because its offset was out of range: so each move takes the partition from the client and gives it back.
 */
export class PartitionControl {
  readonly #parts: PartitionControlParts;
  readonly #waker: BrokerWaker;
  /** How many times the client has asked for partitions, and waits for the answer. */
  #unanswered = 0;
  /** What is done when none is unanswered any more. */
  readonly #afterAnswer: (() => void)[] = [];
  readonly #refused = new Set<Held>();

  constructor(parts: PartitionControlParts) {
    this.#parts = parts;
    this.#waker = new BrokerWaker(parts.consumer);
  }

  /** Resolves when nothing is asked of the client any more. */
  close(): Promise<void> {
    return this.#waker.end();
  }

  /** The partition goes on at this offset. */
  place(held: Held, offset: bigint): void {
    const { assignments, loop } = this.#parts;
    held.next = Number(offset);
    held.isStarting = true; // what the client still brings is from before
    loop.between(() =>
      this.#whenAnswered(() => {
        if (assignments.held(held.assignment) !== held || held.isGoing || held.isOver || held.next !== Number(offset)) {
          return;
        }
        const { topic, partition } = held.assignment;
        if (held.isPlaced) {
          this.#unplace([held]);
        }
        if (
          !held.isPlaced &&
          this.#try("gives a partition to the client", () =>
            this.#parts.consumer.incrementalAssign([{ topic, partition, offset: held.next } as never]),
          )
        ) {
          held.isPlaced = true;
          held.isStarting = false;
          held.stoppedReports = 0;
          this.#apply(held, held.isPaused || held.isHeld);
        } else {
          this.#refused.add(held);
        }
      }),
    );
  }

  /** Places the partitions again that the client has refused. */
  retry(): void {
    const refused = [...this.#refused];
    this.#refused.clear();
    refused.forEach((held) => this.place(held, BigInt(held.next)));
  }

  /** The client asks for partitions, and waits until `letGo`. */
  asked(): void {
    this.#unanswered++;
  }

  /** The answer when the client has asked for these partitions. */
  letGo(going: readonly Held[]): void {
    // Also without a partition, because the client waits for the call. A newer assignment of the same partition stays with the client.
    this.#unplace(going.filter((held) => (this.#parts.assignments.at(held.assignment.topic, held.assignment.partition) ?? held) === held));
    this.#unanswered--;
    for (const work of this.#unanswered === 0 ? this.#afterAnswer.splice(0) : []) {
      this.#parts.loop.between(() => this.#whenAnswered(work));
    }
  }

  /**
   * While the client waits for the answer, it takes any call that gives or takes partitions for it, also one about others: the group would give
   * away what is still being handled here, and this member would commit it after its new owner.
   */
  #whenAnswered(work: () => void): void {
    if (this.#unanswered > 0) {
      this.#afterAnswer.push(work);
    } else {
      work();
    }
  }

  #unplace(helds: readonly Held[]): void {
    const placed = helds.filter(({ isPlaced }) => isPlaced).map(({ assignment: { topic, partition } }) => ({ topic, partition }));
    if (this.#try("takes partitions from the client", () => this.#parts.consumer.incrementalUnassign(placed))) {
      for (const held of helds) {
        held.isPlaced = false;
      }
    }
  }

  /** Answers the group's assignment. The partitions follow one by one, when their starts are known. */
  accept(): void {
    this.#try("accepts an assignment", () => this.#parts.consumer.incrementalAssign([]));
  }

  /** Assignments that are over are left out, because a pause would stop the new assignment of the same partition. */
  setPaused(assignments: readonly PartitionAssignment[], isPaused: boolean): void {
    for (const held of this.#parts.assignments.heldOf(assignments)) {
      this.#set(held, isPaused, held.isHeld);
    }
  }

  /** Stops or resumes the fetches of a partition, apart from pauses by the consumer. */
  hold(held: Held, isHeld: boolean): void {
    if (this.#parts.assignments.held(held.assignment) === held) {
      this.#set(held, held.isPaused, isHeld);
    }
  }

  #set(held: Held, isPaused: boolean, isHeld: boolean): void {
    const was = held.isPaused || held.isHeld;
    held.isPaused = isPaused;
    held.isHeld = isHeld;
    if (was !== (isPaused || isHeld)) {
      this.#apply(held, isPaused || isHeld);
      if (was) {
        this.#waker.wake(held.assignment.topic, held.assignment.partition);
      }
    }
  }

  #apply(held: Held, isStopped: boolean): void {
    const { consumer } = this.#parts;
    const { topic, partition } = held.assignment;
    if (held.isPlaced && isStopped) {
      this.#try("pauses a partition", () => consumer.pause([{ topic, partition }]));
    } else if (held.isPlaced) {
      this.#try("resumes a partition", () => consumer.resume([{ topic, partition }]));
    }
  }

  /** The client refuses when it is about to give the partitions up: the rebalance that follows says what becomes of them. */
  #try(what: string, work: () => void): boolean {
    try {
      work();
      return true;
    } catch (error) {
      this.#parts.logger.debug({ err: error }, `librdkafka refuses a call that ${what}`);
      return false;
    }
  }
}
