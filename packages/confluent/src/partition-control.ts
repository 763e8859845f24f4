import type { Logger, PartitionAssignment } from "@cdckit/consumer";
import type { Held, HeldPartitions } from "./assignments.ts";
import { BrokerWaker } from "./broker-waker.ts";
import type { ConsumeLoop } from "./consume-loop.ts";
import type { LowLevelConsumer } from "./low-level-client.ts";

export interface PartitionControlParts {
  readonly consumer: LowLevelConsumer;
  readonly assignments: HeldPartitions;
  readonly loop: Pick<ConsumeLoop, "between" | "afterCall">;
  readonly logger: Logger;
}

/**
 * Says which partitions the client fetches, and from which offset. A partition comes to the client when its start is known. The client has no
 * other way to move one that has stopped because its offset was out of range: so each move takes the partition from the client and gives it back.
 *
 * While the client waits for the answer to a revocation, it takes any call that takes partitions from it for that answer, also one about others.
 * So such a call waits while a revocation is unanswered. That alone is not enough, because the client waits from the moment at which it has queued
 * the event (`rd_kafka_rebalance_op_incr` in its rdkafka_cgrp.c), in a thread of its own, and the event comes here with a later `consume`:
 *
 * 1. The client queues the revocation of partition 1. A handler of partition 1 is at work.
 * 2. A move takes partition 0: for the client, that is the answer. It ends the revocation, and queues the assignment that follows each.
 * 3. The move gives partition 0 back: for the client, that is the answer to the assignment. It joins the group again without partition 1.
 * 4. The revocation comes here. The group has given partition 1 to another member, and its handler is still at work.
 *
 * Step 2 cannot be prevented, and does no harm: the client joins again after the answer to the assignment only. So partitions are given to the
 * client when a `consume` after the last taking has brought what was queued before it, and no assignment is answered while a revocation is not.
 */
export class PartitionControl {
  readonly #parts: PartitionControlParts;
  readonly #waker: BrokerWaker;
  /** How many times the client has asked for partitions, and waits for the answer. */
  #unanswered = 0;
  /** A move has taken partitions, and what the client had queued before that has not come yet. */
  #isInDoubt = false;
  /** An assignment of the group is to be answered. */
  #mustAccept = false;
  /** What is to be taken from the client because it moves, and what is to be given to it. */
  readonly #toTake = new Set<Held>();
  readonly #toGive = new Set<Held>();
  /** What is placed again with the next report: the client has refused it, or it waits for that. */
  readonly #toRetry = new Set<Held>();

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
    held.next = Number(offset);
    held.last = null;
    this.#place(held, held.next);
  }

  /** The partition goes on where it was. Its last record comes again if the log begins there or below, which shows whether the log still has it. */
  placeAgain(held: Held, low: bigint): void {
    this.#place(held, positionAgain(held, low));
  }

  /** As `placeAgain`, but after the client's next report: what has led here may be the case again at once. */
  placeLater(held: Held, low: bigint): void {
    this.#takeFrom(held, positionAgain(held, low));
    this.#toRetry.add(held);
    this.#parts.loop.between(() => this.#goOn());
  }

  /** The client has reported: places the partitions again that it has refused, and those that wait for a report. */
  retry(): void {
    const waiting = [...this.#toRetry];
    this.#toRetry.clear();
    waiting.forEach((held) => this.#place(held, held.placedFrom));
  }

  #place(held: Held, from: number): void {
    this.#takeFrom(held, from);
    this.#toGive.add(held);
    this.#parts.loop.between(() => this.#goOn());
  }

  #takeFrom(held: Held, from: number): void {
    held.placedFrom = from;
    held.isStarting = true; // what the client still brings is from before
    this.#toTake.add(held);
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
    if (this.#mustAccept) {
      this.accept();
    }
    this.#parts.loop.between(() => this.#goOn());
  }

  /** Takes and gives what moves. To be called between two calls of the client. */
  #goOn(): void {
    if (this.#unanswered > 0) {
      return;
    }
    for (const held of this.#current(this.#toTake)) {
      if (held.isPlaced && this.#unplace([held])) {
        this.#doubt();
      }
    }
    for (const held of this.#isInDoubt ? [] : this.#current(this.#toGive)) {
      this.#give(held);
    }
  }

  /** Empties the set. */
  #current(helds: Set<Held>): readonly Held[] {
    const { assignments } = this.#parts;
    const current = [...helds].filter((held) => assignments.held(held.assignment) === held && !held.isGoing && !held.isOver);
    helds.clear();
    return current;
  }

  #doubt(): void {
    if (!this.#isInDoubt) {
      this.#isInDoubt = true;
      this.#parts.loop.afterCall(() => {
        this.#isInDoubt = false;
        this.#goOn();
      });
    }
  }

  #give(held: Held): void {
    const { topic, partition } = held.assignment;
    const places = [{ topic, partition, offset: held.placedFrom }];
    if (!held.isPlaced && this.#try("gives a partition to the client", () => this.#parts.consumer.incrementalAssign(places))) {
      held.isPlaced = true;
      held.isStarting = false;
      held.stoppedReports = 0;
      this.#apply(held, held.isPaused || held.isHeld);
    } else {
      this.#toRetry.add(held);
    }
  }

  #unplace(helds: readonly Held[]): boolean {
    const placed = helds.filter(({ isPlaced }) => isPlaced).map(({ assignment: { topic, partition } }) => ({ topic, partition }));
    const isTaken = this.#try("takes partitions from the client", () => this.#parts.consumer.incrementalUnassign(placed));
    for (const held of isTaken ? helds : []) {
      held.isPlaced = false;
    }
    return isTaken;
  }

  /** Answers the group's assignment, after all revocations. The partitions follow one by one, when their starts are known. */
  accept(): void {
    this.#mustAccept = this.#unanswered > 0;
    if (this.#mustAccept) {
      return;
    }
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

/** The offset of the last record if the log begins there or below, otherwise that of the next one. */
function positionAgain({ last, next }: Held, low: bigint): number {
  return last !== null && last.offset >= low ? last.offset : next;
}
