import type { CdcEvent } from "@cdckit/decode";
import type { Failure } from "../failure/failure.ts";
import type { Recovery } from "../failure/recovery.ts";
import { noTries, type Tries } from "../failure/retry-policy.ts";
import type { Counters } from "../observe/counters.ts";
import type { WorkInHand } from "../observe/waits.ts";
import type { AnyHandler } from "../routing/handlers.ts";
import type { ResolvedDeliveryOptions } from "./delivery-options.ts";
import { pendingOf, readMember } from "../user-code/user-value.ts";
import { Lanes, laneOfKey, type LaneTask } from "./lanes.ts";
import type { InFlightRecord } from "./in-flight-record.ts";
import type { PartitionLife } from "./partition-life.ts";
import type { Turns } from "./turns.ts";

/** One event, and the handler that takes it. */
export interface HandlerCall {
  readonly handle: AnyHandler;
  readonly event: CdcEvent;
}

/** A record that did not decode, and that is set aside when its turn comes. */
export interface PendingDeadLetter {
  readonly failure: Failure;
  readonly tries: Tries;
}

/** The events of one record that go to handlers one by one. */
interface RecordTask extends LaneTask {
  readonly record: InFlightRecord;
  readonly calls: readonly HandlerCall[];
  nextCall: number;
  /** It was started, and does not rest between two attempts. */
  isInHand: boolean;
  tries: Tries | null;
  readonly pendingDeadLetter: PendingDeadLetter | null;
}

/** The owner of the lanes. */
export interface LaneOwner {
  /** Says what may start. */
  readonly life: PartitionLife;
  /** Something has ended, or may be started. */
  moved(): void;
  pump(): void;
  /** An attempt has failed, and its work rests until the next one. */
  rested(): void;
  halt(error: Error): void;
}

export interface RecordLaneParts {
  readonly delivery: ResolvedDeliveryOptions;
  readonly recovery: Recovery;
  readonly counters: Counters;
  readonly turns: Turns;
}

/** Calls handlers with the events of records, each record in its lane, and deals with those that fail. */
export class RecordLanes {
  readonly #delivery: ResolvedDeliveryOptions;
  readonly #recovery: Recovery;
  readonly #counters: Counters;
  readonly #turns: Turns;
  readonly #owner: LaneOwner;
  readonly #lanes: Lanes<RecordTask>;
  #active = 0;
  /** Lanes that belong to one record each. */
  #ownLanes = 0;

  constructor({ delivery, recovery, counters, turns }: RecordLaneParts, owner: LaneOwner) {
    this.#delivery = delivery;
    this.#recovery = recovery;
    this.#counters = counters;
    this.#turns = turns;
    this.#owner = owner;
    this.#lanes = new Lanes(delivery.concurrency);
  }

  /** Handler calls, and writes of dead letters, that are under way. */
  get active(): number {
    return this.#active;
  }

  /** As many tasks run as may. */
  get isFull(): boolean {
    return this.#lanes.isFull;
  }

  /** Tasks that were not started. */
  get waiting(): number {
    return this.#lanes.waiting;
  }

  /**
   * Some task is not over. While the partition finishes, those that may come again do not count. The first task of each lane tells for all:
   * those after it, and those that wait for a barrier, are above one of them.
   */
  get isBusy(): boolean {
    for (const { record } of this.#lanes.heads()) {
      if (this.#owner.life.mayStart(record.offset)) {
        return true;
      }
    }
    return false;
  }

  /** The highest offset of a record in hand. It is below all offsets if none is. */
  get inHandUpTo(): bigint {
    let upTo = -1n;
    for (const { isInHand, record } of this.#lanes.heads()) {
      upTo = isInHand && record.offset > upTo ? record.offset : upTo;
    }
    return upTo;
  }

  /** The first record that a handler has in hand. A record that has failed is reported as a wait instead. */
  *atWork(): Iterable<WorkInHand> {
    let first: RecordTask | null = null;
    for (const task of this.#active > 0 ? this.#lanes.heads() : []) {
      const isAtHandler = task.nextCall > 0 && task.tries === null;
      if (isAtHandler && (first === null || task.record.offset < first.record.offset)) {
        first = task;
      }
    }
    if (first !== null) {
      yield this.#recovery.workOn("handle", first.record.place, null);
    }
  }

  add(record: InFlightRecord, calls: readonly HandlerCall[], pendingDeadLetter: PendingDeadLetter | null): void {
    const lane = this.#laneOf(record);
    const isBarrier = this.#delivery.order === "key" && this.#delivery.concurrency > 1 && calls.some(isForAllKeys);
    this.#lanes.add({ record, lane, isBarrier, calls, nextCall: 0, isInHand: false, tries: null, pendingDeadLetter });
  }

  /** Starts the next task. False if none may start. */
  startNext(): boolean {
    const task = this.#lanes.next();
    if (task !== undefined) {
      this.#start(task);
    }
    return task !== undefined;
  }

  #laneOf({ taken: { batch }, record }: InFlightRecord): number {
    const { order, concurrency } = this.#delivery;
    if (order === "partition" || concurrency === 1) {
      return 0;
    }
    // The record has a lane of its own. These numbers are below those of keys.
    return order === "key" ? laneOfKey(batch.keyAt(record)) : -2 - this.#ownLanes++;
  }

  #start(task: RecordTask): void {
    const recovery = this.#recovery;
    const { offset } = task.record;
    const { life } = this.#owner;
    if (!life.mayStart(offset)) {
      this.#lanes.end(task);
      return;
    }
    task.isInHand = true;
    if (task.pendingDeadLetter !== null) {
      this.setAside(task.pendingDeadLetter.failure, task.pendingDeadLetter.tries, () => this.#finish(task));
      return;
    }
    const behind = recovery.hasParkedKeys ? recovery.parkedBehind(task.record.place) : undefined;
    if (behind !== undefined) {
      this.#write(recovery.park(task.record.place, behind, this.#owner.life.fence), () => this.#finish(task));
      return;
    }
    this.#call(task);
  }

  /** Hands on the task's events until one must be awaited. */
  #call(task: RecordTask): void {
    const counters = this.#counters;
    for (let call = task.calls[task.nextCall]; call !== undefined; call = task.calls[task.nextCall]) {
      const { life } = this.#owner;
      if (life.isFenced) {
        return;
      }
      const rest = task.nextCall === 0 ? null : this.#turns.restWhereDue(life.fence);
      if (rest !== null) {
        this.#active++;
        void rest.then(() => this.#callRest(task));
        return;
      }
      task.nextCall++;
      let pending: Promise<unknown> | null;
      // Under way from here on: the handler may stop the consumer while the call is on the stack, and the drain must wait for it.
      this.#active++;
      try {
        pending = pendingOf(call.handle(call.event));
      } catch (error) {
        this.#active--;
        this.#failed(task, error);
        return;
      }
      if (pending !== null) {
        this.#awaitCall(task, pending);
        return;
      }
      this.#active--;
      counters.handled++;
    }
    this.#finish(task);
  }

  #awaitCall(task: RecordTask, pending: Promise<unknown>): void {
    pending.then(
      () => {
        this.#counters.handled++;
        this.#callRest(task);
      },
      (error: unknown) => {
        this.#active--;
        this.#failed(task, error);
        this.#owner.moved();
      },
    );
  }

  /** A record with several events may have waited for a long time between two of them, so the lease is asked again. */
  #callRest(task: RecordTask): void {
    const { fence } = this.#owner.life;
    if (task.nextCall < task.calls.length && fence.mustWait) {
      void fence.leased().then(() => this.#callRest(task));
      return;
    }
    this.#active--;
    this.#call(task);
    this.#owner.moved();
  }

  #failed(task: RecordTask, error: unknown): void {
    const { life } = this.#owner;
    const event = task.calls[task.nextCall - 1]?.event ?? null;
    const failure: Failure = { stage: "handle", error, place: task.record.place, event, sink: null, through: null };
    const tries = (task.tries ??= noTries());
    this.#recovery.recover({
      failure,
      tries,
      fence: life.fence,
      giveUp: () => {},
      retryAfter: (delayMs) => {
        task.nextCall--;
        this.#rest(task, delayMs);
      },
      isolate: null,
      setAside: () => this.setAside(failure, tries, () => this.#finish(task)),
      halt: (fatal) => this.#owner.halt(fatal),
    });
  }

  #rest(task: RecordTask, delayMs: number): void {
    const { life } = this.#owner;
    this.#lanes.rest();
    task.isInHand = false;
    if (task.nextCall > 0) {
      life.handles(task.record.offset); // its first events would come twice
    }
    this.#owner.rested();
    void life.fence.pause(delayMs).then(() => {
      if (!life.isFenced) {
        this.#lanes.resume(task);
        this.#owner.pump();
      }
    });
  }

  #finish(task: RecordTask): void {
    if (task.tries !== null) {
      this.#recovery.recovered(task.tries);
    }
    this.#owner.life.handles(task.record.offset);
    this.#lanes.end(task);
    task.record.done();
  }

  /** Writes a dead letter, and continues after it is acknowledged. */
  setAside(failure: Failure, tries: Tries, then: () => void): void {
    this.#write(this.#recovery.setAside(failure, tries, this.#owner.life.fence), then);
  }

  /** Waits until a dead letter is acknowledged. If it is not written, its record stays in flight and comes again. */
  #write(writing: Promise<boolean>, then: () => void): void {
    this.#active++;
    writing.then(
      (isWritten) => {
        this.#active--;
        if (isWritten) {
          then();
        }
        this.#owner.moved();
      },
      (error: Error) => {
        this.#active--;
        this.#owner.halt(error);
        this.#owner.moved();
      },
    );
  }
}

/**
 * Whether an event concerns rows of every key: a truncate empties its table, a schema change alters it, and a watermark says that all earlier
 * changes have come. Without a barrier, 16 lanes at work could handle a truncate before a row that was written, and read, before it: the
 * copy of the table would keep the row.
 */
function isForAllKeys({ event }: HandlerCall): boolean {
  const kind = readMember(event, "kind"); // a decoder of the user's may have made the event
  return kind === "truncate" || kind === "schema-change" || kind === "watermark";
}
