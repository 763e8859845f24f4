import type { FetchedBatch } from "../driver.ts";
import type { Failure, RecordPlace } from "../failure/failure.ts";
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

  constructor(batch: FetchedBatch, life: PartitionLife, held: HeldEvents, parts: RunnerParts) {
    this.#parts = parts;
    this.#batch = batch;
    this.#life = life;
    this.#held = held;
  }

  advance(): PromiseLike<unknown> | null {
    const { recovery, turns } = this.#parts;
    for (;;) {
      const rest = turns.restBeforeBatch(this.#life.fence);
      if (rest !== null) {
        return rest;
      }
      const group = this.#next();
      if (group === undefined) {
        return null;
      }
      const pending = recovery.hasParkedKeys ? this.#parkOrHandle(group) : group.handle(group.events);
      if (isThenable(pending)) {
        return pending;
      }
    }
  }

  failureOf(error: unknown): FailedAttempt {
    const { records, events, tries } = this.#current;
    const stage = this.#stage;
    const [first = 0] = records;
    const last = records.at(-1) ?? first;
    const event = stage === "handle" ? (events[0] ?? null) : null;
    const failed = { stage, error, place: this.#placeOf(first), event, sink: null };
    return last === first
      ? { failure: { ...failed, through: null }, tries, isolate: null }
      : { failure: { ...failed, through: this.#batch.offsetAt(last) }, tries, isolate: () => this.#held.isolate() };
  }

  retryAfter(delayMs: number): Promise<void> {
    this.#held.putBack();
    return this.#life.fence.pause(delayMs);
  }

  skip(): void {
    this.#parts.counters.handled -= this.#isParking ? 0 : this.#current.events.length;
    this.#isParking = false;
  }

  *atWork(): Iterable<WorkInHand> {
    const record = this.#held.current?.records[0];
    if (record !== undefined) {
      yield this.#parts.recovery.workOn(this.#stage, this.#placeOf(record), null);
    }
  }

  get #stage(): Failure["stage"] {
    return this.#isParking ? "read" : "handle";
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

  /**
   * A key may have been parked after its record was held: record 5 is held, 6 of the same key becomes a dead letter, 7 is held. Handling 7
   * would overtake 6, so 7 follows it to the dead letters.
   */
  #parkOrHandle(group: HeldGroup): unknown {
    const parked = group.records.find((record) => this.#parkedBehind(record) !== undefined);
    if (parked === undefined) {
      return group.handle(group.events);
    }
    if (group.records.at(-1) !== group.records[0]) {
      this.#held.isolate();
      return undefined;
    }
    this.#isParking = true;
    const { recovery, counters } = this.#parts;
    return recovery.park(this.#placeOf(parked), this.#parkedBehind(parked) ?? 0n, this.#life.fence).then((isParked) => {
      this.#isParking = !isParked;
      counters.handled -= isParked ? group.events.length : 0;
    });
  }

  /** The dead letter of the record's key, if it comes before the record. */
  #parkedBehind(record: number): bigint | undefined {
    const behind = this.#parts.recovery.parkedBehind(this.#placeOf(record));
    return behind !== undefined && behind < this.#batch.offsetAt(record) ? behind : undefined;
  }

  #placeOf(record: number): RecordPlace {
    return { assignment: this.#batch.assignment, batch: this.#batch, record };
  }
}
