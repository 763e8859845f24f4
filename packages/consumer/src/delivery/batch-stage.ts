import type { Clock } from "../clock.ts";
import { type Failure, haltErrorOf } from "../failure/failure.ts";
import type { Recovery } from "../failure/recovery.ts";
import { noTries, type Tries } from "../failure/retry-policy.ts";
import type { WorkInHand } from "../observe/waits.ts";
import { toError } from "../user-code/user-value.ts";
import type { BatchLimits } from "./delivery-options.ts";
import type { Fence } from "./fence.ts";
import type { BatchEntry } from "./in-flight-record.ts";

export interface BatchStageParts {
  readonly limits: BatchLimits;
  readonly clock: Clock;
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

  constructor(parts: BatchStageParts) {
    this.#parts = parts;
  }

  /** A batch is being handled. */
  get isBusy(): boolean {
    return this.#isBusy;
  }

  /** Everything that was added is handled. */
  get isEmpty(): boolean {
    return !this.#isBusy && this.#open.length === 0 && this.#due.length === 0;
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

  /** Hands on what is collected up to this offset, and nothing above it. */
  finish(ceiling: bigint): void {
    const isKept = ({ record }: BatchEntry): boolean => record.offset <= ceiling;
    this.#due.push(
      ...this.#due
        .splice(0)
        .map((entries) => entries.filter(isKept))
        .filter(({ length }) => length > 0),
    );
    this.#open = this.#open.filter(isKept);
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
      await this.#handle(await this.#withoutParked(entries));
      this.#parts.moved();
    }
    this.#isBusy = false;
    this.#parts.moved();
  }

  /** Handles the entries together. If one of them is to blame, handles them one by one. It never rejects. */
  async #handle(entries: readonly BatchEntry[]): Promise<void> {
    const tries: Tries = noTries();
    const { fence } = this.#parts;
    while (!fence.isClosed && entries.length > 0) {
      if (fence.mustWait) {
        await fence.leased();
        continue;
      }
      try {
        this.#inHand = entries;
        await this.#parts.apply(entries);
        if (tries.failures > 0 || tries.outages > 0) {
          this.#parts.recovery.recovered(tries);
        }
        this.#inHand = [];
        settle(entries);
        return;
      } catch (error) {
        this.#inHand = [];
        if (!(await this.#isRetried(entries, error, tries))) {
          return;
        }
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
      retryAfter: async (delayMs) => {
        await fence.pause(delayMs);
        return true;
      },
      setAside: async () => {
        if (blamed === undefined) {
          halt(haltErrorOf(failure)); // without events only a checkpoint was to move, and no record is to blame for that
        } else if (entries.length > 1) {
          await this.#handleOneByOne(entries);
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

  async #handleOneByOne(entries: readonly BatchEntry[]): Promise<void> {
    for (const entry of entries) {
      if (this.#parts.fence.isClosed) {
        return;
      }
      await this.#handle(await this.#withoutParked([entry]));
    }
  }

  async #setAside(entry: BatchEntry, failure: Failure, tries: Tries): Promise<void> {
    const { recovery, fence, halt } = this.#parts;
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
    const { recovery, fence, halt } = this.#parts;
    if (!recovery.hasParkedKeys) {
      return entries;
    }
    const rest: BatchEntry[] = [];
    for (const entry of entries) {
      const behind = entry.events.length === 0 ? undefined : recovery.parkedBehind(entry.record.place);
      if (behind === undefined || behind >= entry.record.offset) {
        rest.push(entry);
        continue;
      }
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
