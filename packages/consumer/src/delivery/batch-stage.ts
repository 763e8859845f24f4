import type { Clock } from "../clock.ts";
import { type Failure, haltErrorOf } from "../failure/failure.ts";
import type { Recovery } from "../failure/recovery.ts";
import { noTries, type Tries } from "../failure/retry-policy.ts";
import type { WorkInHand } from "../observe/waits.ts";
import { toError } from "../user-code/user-value.ts";
import type { BatchLimits } from "./delivery-options.ts";
import type { Fence } from "./fence.ts";
import type { BatchEntry } from "./in-flight-record.ts";
import type { Turns } from "./turns.ts";

export interface BatchStageParts {
  readonly limits: BatchLimits;
  readonly clock: Clock;
  readonly turns: Turns;
  readonly recovery: Recovery;
  readonly fence: Fence;
  /** Handles the entries together. */
  readonly apply: (entries: readonly BatchEntry[]) => void | PromiseLike<void>;
  /** The name of the sink that they go to. Null if they go to a handler. */
  readonly sink: string | null;
  /** Halts the consumer. */
  readonly halt: (error: Error) => void;
  /** A batch is handled, or the stage waits for nothing any more. */
  readonly moved: () => void;
  /** An attempt has failed, and its batch rests until the next one. */
  readonly rested: () => void;
  /** The record at this offset must not come again: it is handled, or is becoming a dead letter. */
  readonly handles: (offset: bigint) => void;
}

/** Collects what goes to one batch handler or sink of one partition. Hands it on batch after batch, in order. */
export class BatchStage {
  readonly #parts: BatchStageParts;
  #open: BatchEntry[] = [];
  #openEvents = 0;
  #openBytes = 0;
  #cancelTimer: () => void = () => {};
  readonly #due: BatchEntry[][] = [];
  #isBusy = false;
  /** What was handed on and is not answered. */
  #inHand: readonly BatchEntry[] = [];
  /** What is in work: it is in hand, it waits for the lease, or records of it are written to the dead letters. */
  #inWork: readonly BatchEntry[] = [];
  /** What has failed, until its next attempt. */
  #resting: readonly BatchEntry[] = [];
  /** While the partition finishes, nothing above this offset is attempted any more. Null before. */
  #ceiling: bigint | null = null;
  readonly #isKept = ({ record }: BatchEntry): boolean => this.#ceiling === null || record.offset <= this.#ceiling;

  constructor(parts: BatchStageParts) {
    this.#parts = parts;
  }

  /** A batch is being handled. One that rests does not count if it may come again. */
  get isBusy(): boolean {
    return this.#isBusy && (this.#resting.length === 0 || this.#resting.some(this.#isKept));
  }

  /** Everything that was added is handled, or may come again. */
  get isEmpty(): boolean {
    return !this.isBusy && this.#open.length === 0 && this.#due.length === 0;
  }

  /** The highest offset of what is in work. It is below all offsets if nothing is. */
  get inHandUpTo(): bigint {
    return this.#inWork.at(-1)?.record.offset ?? -1n;
  }

  /** The first record of what is being handled. */
  *atWork(): Iterable<WorkInHand> {
    const first = this.#inHand.find(({ events }) => events.length > 0) ?? this.#inHand[0];
    if (first !== undefined) {
      yield this.#parts.recovery.workOn("handle", first.record.place, this.#parts.sink);
    }
  }

  add(entry: BatchEntry): void {
    const { limits, clock } = this.#parts;
    const { events, record } = entry;
    if (limits !== null && this.#open.length > 0 && this.#wouldPass(limits, events.length, record.bytes)) {
      this.flush();
    }
    if (limits !== null && this.#open.length === 0) {
      this.#cancelTimer = clock.after(limits.maxMs, () => this.flush());
    }
    this.#open.push(entry);
    this.#openEvents += events.length;
    this.#openBytes += events.length > 0 ? record.bytes : 0;
    if (limits !== null && (this.#openEvents >= limits.maxEvents || this.#openBytes >= limits.maxBytes)) {
      this.flush();
    }
  }

  /** A fetched batch has ended. */
  fetchEnded(): void {
    if (this.#parts.limits === null) {
      this.flush();
    }
  }

  /** Hands on what is collected: nothing more may come before that is handled. */
  flush(): void {
    this.#cancelTimer();
    if (this.#open.length === 0) {
      return;
    }
    this.#due.push(this.#open);
    this.#open = [];
    this.#openEvents = 0;
    this.#openBytes = 0;
    if (!this.#isBusy && !this.#parts.fence.isClosed) {
      this.#work().catch((error: unknown) => this.#parts.halt(toError(error))); // what it calls does not throw: this is our own mistake
    }
  }

  /**
   * Hands on what is collected up to this offset, and nothing above it. It may be called again, with a lower offset. An attempt that is under
   * way is waited for, and the next one has to be below the offset, too.
   */
  finish(ceiling: bigint): void {
    this.#ceiling = ceiling;
    this.#due.push(
      ...this.#due
        .splice(0)
        .map((entries) => entries.filter(this.#isKept))
        .filter(({ length }) => length > 0),
    );
    this.#open = this.#open.filter(this.#isKept);
    this.flush();
  }

  /** Nothing more is handed on, and nothing of it is kept in memory. */
  close(): void {
    this.#cancelTimer();
    this.#open = [];
    this.#due.length = 0;
  }

  #wouldPass({ maxEvents, maxBytes }: NonNullable<BatchLimits>, events: number, bytes: number): boolean {
    return events > 0 && (this.#openEvents + events > maxEvents || this.#openBytes + bytes > maxBytes);
  }

  async #work(): Promise<void> {
    this.#isBusy = true;
    for (let entries = this.#due.shift(); entries !== undefined && !this.#parts.fence.isClosed; entries = this.#due.shift()) {
      this.#inWork = entries;
      await this.#handle(await this.#withoutParked(entries));
      this.#inWork = [];
      this.#parts.moved();
    }
    this.#isBusy = false;
    this.#parts.moved();
  }

  /** Handles the entries together. If one of them is to blame, handles them one by one. It never rejects. */
  async #handle(entries: readonly BatchEntry[]): Promise<void> {
    const tries: Tries = noTries();
    const { fence, turns } = this.#parts;
    let remaining = entries;
    while (!fence.isClosed && remaining.length > 0) {
      this.#inWork = remaining;
      const rest = turns.restBeforeBatch(fence);
      if (rest !== null) {
        await rest;
        continue;
      }
      try {
        this.#inHand = remaining;
        await this.#parts.apply(remaining);
        if (tries.failures > 0 || tries.outages > 0) {
          this.#parts.recovery.recovered(tries);
        }
        this.#inHand = [];
        settle(remaining);
        return;
      } catch (error) {
        this.#inHand = [];
        if (!(await this.#isRetried(remaining, error, tries))) {
          return;
        }
        remaining = remaining.filter(this.#isKept);
      }
    }
  }

  /** Resolves with true when the entries may be attempted again, and with false if they were dealt with in another way or never will be. */
  #isRetried(entries: readonly BatchEntry[], error: unknown, tries: Tries): Promise<boolean> {
    const { recovery, fence, halt } = this.#parts;
    const suspects = entries.filter(({ events }) => events.length > 0);
    const [blamed] = suspects;
    const { place } = (blamed ?? (entries[0] as BatchEntry)).record; // never called with none
    const through = suspects.length > 1 ? (suspects.at(-1)?.record.offset ?? null) : null;
    const failure: Failure = { stage: "handle", error, place, event: blamed?.events[0] ?? null, sink: this.#parts.sink, through };
    return recovery.recover<Promise<boolean>>({
      failure,
      tries,
      fence,
      giveUp: async () => false,
      retryAfter: (delayMs) => this.#rest(entries, delayMs),
      isolate:
        blamed === undefined || entries.length === 1
          ? null
          : async () => {
              await this.#handleOneByOne(entries);
              return false;
            },
      setAside: async () => {
        if (blamed === undefined) {
          halt(haltErrorOf(failure)); // without events only a checkpoint was to move, and no record is to blame for that
        } else {
          await this.#setAside(blamed, failure, tries);
        }
        return false;
      },
      halt: async (fatal) => {
        halt(fatal);
        return false;
      },
    });
  }

  /** Resolves with true. What may come again by then is not attempted: it is left out after that. */
  async #rest(entries: readonly BatchEntry[], delayMs: number): Promise<true> {
    const { fence, rested } = this.#parts;
    this.#inWork = [];
    this.#resting = entries;
    rested();
    await fence.pause(delayMs);
    this.#resting = [];
    return true;
  }

  async #handleOneByOne(entries: readonly BatchEntry[]): Promise<void> {
    for (const entry of entries) {
      if (this.#parts.fence.isClosed || !this.#isKept(entry)) {
        return;
      }
      this.#inWork = [entry];
      await this.#handle(await this.#withoutParked([entry]));
    }
  }

  async #setAside(entry: BatchEntry, failure: Failure, tries: Tries): Promise<void> {
    const { recovery, fence, halt, handles } = this.#parts;
    handles(entry.record.offset);
    try {
      if (await recovery.setAside(failure, tries, fence)) {
        entry.record.sinkEvents = 0;
        // The checkpoint of a sink must move past it too.
        await this.#handle([{ record: entry.record, events: [] }]);
      }
    } catch (fatal) {
      halt(fatal as Error); // setAside rejects with errors only
    }
  }

  /** Writes records of parked keys to the dead letters. They are left without events, and the other entries are left as they are. */
  async #withoutParked(entries: readonly BatchEntry[]): Promise<readonly BatchEntry[]> {
    const { recovery, fence, halt, handles } = this.#parts;
    if (!recovery.hasParkedKeys) {
      return entries;
    }
    const rest: BatchEntry[] = [];
    for (const entry of entries) {
      const behind = entry.events.length === 0 ? undefined : recovery.parkedBehind(entry.record.place);
      if (behind === undefined) {
        rest.push(entry);
        continue;
      }
      handles(entry.record.offset);
      try {
        if (!(await recovery.park(entry.record.place, behind, fence))) {
          return [];
        }
        entry.record.sinkEvents = 0;
        rest.push({ record: entry.record, events: [] });
      } catch (fatal) {
        halt(fatal as Error); // park rejects with errors only
        return [];
      }
    }
    return rest;
  }
}

function settle(entries: readonly BatchEntry[]): void {
  for (const { record } of entries) {
    record.done();
  }
}
