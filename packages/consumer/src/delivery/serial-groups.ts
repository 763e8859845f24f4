import type { FetchedBatch } from "../driver.ts";
import type { Failure } from "../failure/failure.ts";
import type { RecordPlace } from "../failure/record-place.ts";
import type { WorkInHand } from "../observe/waits.ts";
import { isThenable } from "../user-code/user-value.ts";
import type { HeldEvents, HeldGroup } from "./held-events.ts";
import type { PartitionLife } from "./partition-life.ts";
import type { RunnerParts } from "./runner-parts.ts";
import type { FailedAttempt, SerialPhase } from "./serial-phase.ts";

/** Hands the events that were held during a batch to their batch handlers, one handler after the other. */
export class SerialGroups implements SerialPhase {
  readonly #parts: RunnerParts;
  readonly #batch: FetchedBatch;
  readonly #life: PartitionLife;
  readonly #held: HeldEvents;
  /** A record of a parked key is being written: no handler is to blame for what goes wrong. */
  #isParking = false;
  /** A handler has the current group, and has not answered. */
  #isAtHandler = false;

  constructor(batch: FetchedBatch, life: PartitionLife, held: HeldEvents, parts: RunnerParts) {
    this.#parts = parts;
    this.#batch = batch;
    this.#life = life;
    this.#held = held;
  }

  /**
   * Goes on until something must be awaited. Null if nothing more can be done: everything is, or the partition reads nothing more. If it
   * throws, or what it returned rejects, what failed is the current group.
   */
  advance(): PromiseLike<unknown> | null {
    const { recovery, turns } = this.#parts;
    for (;;) {
      const rest = this.#held.areSomeUntaken ? turns.restBeforeBatch(this.#life.fence) : null;
      if (rest !== null) {
        return rest;
      }
      const group = this.#next();
      if (group === undefined) {
        return null;
      }
      const pending = recovery.hasParkedKeys ? this.#parkOrHandle(group) : this.#handle(group);
      if (isThenable(pending)) {
        return pending;
      }
    }
  }

  resumed(): void {
    if (this.#isAtHandler) {
      this.#answered(this.#current);
    }
  }

  failureOf(error: unknown): FailedAttempt {
    const group = this.#current;
    const { events, tries } = group;
    const stage: Failure["stage"] = this.#isParking ? "read" : "handle";
    this.#isAtHandler = false;
    const event = stage === "handle" ? (events[0] ?? null) : null;
    const failed = { stage, error, place: this.#placeOf(group, 0), event, sink: null };
    return areSeveral(group)
      ? { failure: { ...failed, through: this.#batch.offsetAt(lastOf(group)) }, tries, isolate: () => this.#held.isolate() }
      : { failure: { ...failed, through: null }, tries, isolate: null };
  }

  retryAfter(delayMs: number): Promise<void> {
    this.#held.putBack();
    return this.#life.fence.pause(delayMs);
  }

  skip(): void {
    this.#isParking = false;
  }

  *atWork(): Iterable<WorkInHand> {
    if (this.#isAtHandler) {
      yield this.#parts.recovery.workOn("handle", this.#placeOf(this.#current, 0), null);
    }
  }

  /** The group that is being handled, or has failed. */
  get #current(): HeldGroup {
    return this.#held.current as HeldGroup; // asked after one was taken
  }

  #next(): HeldGroup | undefined {
    const last = this.#held.current;
    if (last !== undefined && last.tries.wait !== null) {
      this.#parts.recovery.recovered(last.tries);
    }
    return this.#held.take();
  }

  #handle(group: HeldGroup): unknown {
    this.#isAtHandler = true;
    const pending = group.handle([...group.events]); // a handler may take the events out of its array, and they may have to come again
    if (!isThenable(pending)) {
      this.#answered(group);
    }
    return pending;
  }

  #answered({ events }: HeldGroup): void {
    this.#isAtHandler = false;
    this.#parts.counters.handled += events.length;
  }

  /**
   * A key may have been parked after its record was held: record 5 is held, 6 of the same key becomes a dead letter, 7 is held. Handling 7
   * would overtake 6, so 7 follows it to the dead letters.
   */
  #parkOrHandle(group: HeldGroup): unknown {
    const { recovery } = this.#parts;
    const parked = group.records.findIndex((_, i) => recovery.parkedBehind(this.#placeOf(group, i)) !== undefined);
    if (parked < 0) {
      return this.#handle(group);
    }
    if (areSeveral(group)) {
      this.#held.isolate();
      return undefined;
    }
    this.#isParking = true;
    const place = this.#placeOf(group, parked);
    return recovery.park(place, recovery.parkedBehind(place) ?? 0n, this.#life.fence).then((isParked) => {
      this.#isParking = !isParked;
    });
  }

  /** The record of an event of the group. */
  #placeOf({ records, ordinals }: HeldGroup, event: number): RecordPlace {
    const { assignment } = this.#batch;
    return { assignment, batch: this.#batch, record: records[event] as number, ordinal: ordinals[event] as number }; // one for each event
  }
}

/** The events of the group are of several records. */
function areSeveral(group: HeldGroup): boolean {
  return lastOf(group) !== group.records[0];
}

function lastOf({ records }: HeldGroup): number {
  return records.at(-1) as number; // no group is empty
}
