import type { Clock } from "@cdckit/consumer";
import { inOrderScheduler, type Scheduler } from "./scheduler.ts";
import { bindMethods } from "./bind-methods.ts";

/** How a virtual clock orders what is due. */
export interface VirtualClockOptions {
  /**
   * Decides which turn comes next. With a `seededScheduler`, each seed is another schedule.
   * @default turns come in the order in which they were asked for
   */
  readonly scheduler?: Scheduler;
  /**
   * How long a turn takes, on average. Timers that become due in that time run in between. With 0, time passes only when nothing else can run.
   * @default 0
   */
  readonly turnMs?: number;
  /**
   * Where `wallMs` starts: milliseconds since the epoch.
   * @default 1_700_000_000_000
   */
  readonly startMs?: number;
}

/** How long work on a virtual clock may take. */
export interface RunLimits {
  /**
   * How much virtual time may pass until the work has ended.
   * @default 3_600_000
   */
  readonly withinMs?: number;
}

/**
 * A clock that a test owns. Time stands still while anything can run, and then leaps to the next moment at which something is due: hours
 * of back-off pass in no time, and each run is like the last.
 *
 * It knows what goes through it: the consumer's and the broker's turns and timers, and promises among them. Give it to both, drive it with
 * `run` or `advance`, and let handlers wait with `clock.after`. For work outside of it (files, sockets) there is `hold`.
 */
export interface VirtualClock extends Clock {
  /** Turns that were taken, for tests that count them. */
  readonly turns: number;
  /**
   * Runs until the promise has settled, and gives what it gives. Rejects if nothing is left to run before that (something waits for an event
   * that never comes), or when `withinMs` are over.
   */
  run<T>(work: Promise<T>, limits?: RunLimits): Promise<T>;
  /** Lets so much time pass, and everything that is due in it. */
  advance(byMs: number): Promise<void>;
  /** Time stands still until the promise has settled: work that the clock does not see. */
  hold<T>(work: Promise<T>): Promise<T>;
}

/** Makes a clock that stands at 0 until it is driven. */
export function virtualClock(options: VirtualClockOptions = {}): VirtualClock {
  return new ManualClock(options);
}

interface Timer {
  readonly dueMs: number;
  readonly call: () => void;
  isCancelled: boolean;
}

const defaultWithinMs = 3_600_000;
/** So many turns, and the process' own event loop has one: a test's time-out must be able to fire. */
const turnsPerLoop = 1_024;
/** How long the process' event loop may bring something that the clock does not know of, before nothing is left to run. */
const patienceMs = 200;

class ManualClock implements VirtualClock {
  readonly #scheduler: Scheduler;
  readonly #turnMs: number;
  readonly #startMs: number;
  /** By due time, and those of one moment in the order in which they were asked for. */
  readonly #timers: Timer[] = [];
  #nowMs = 0;
  #turns = 0;
  #waiting = 0;
  #holding = 0;
  #isDriven = false;

  constructor({ scheduler = inOrderScheduler(), turnMs = 0, startMs = 1_700_000_000_000 }: VirtualClockOptions) {
    this.#scheduler = scheduler;
    this.#turnMs = turnMs;
    this.#startMs = startMs;
    bindMethods(this);
  }

  get turns(): number {
    return this.#turns;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  wallMs(): number {
    return this.#startMs + Math.floor(this.#nowMs);
  }

  after(delayMs: number, call: () => void): () => void {
    const timer: Timer = { dueMs: this.#nowMs + (delayMs > 0 ? delayMs : 0), call, isCancelled: false };
    let at = this.#timers.length;
    while (at > 0 && (this.#timers[at - 1]?.dueMs ?? 0) > timer.dueMs) {
      at--;
    }
    this.#timers.splice(at, 0, timer);
    return () => {
      timer.isCancelled = true;
    };
  }

  yieldToEventLoop(): Promise<void> {
    return new Promise((resolve) => this.#post(resolve));
  }

  async run<T>(work: Promise<T>, { withinMs = defaultWithinMs }: RunLimits = {}): Promise<T> {
    let isSettled = false;
    const settled = (): void => {
      isSettled = true;
    };
    work.then(settled, settled);
    const endMs = this.#nowMs + withinMs;
    await this.#drive(async () => {
      await microtasks();
      while (!isSettled && ((await this.#advanceOnce(endMs)) || (await this.#outsideBrings(() => isSettled)))) {
        // The next turn.
      }
    });
    if (!isSettled) {
      const why = this.#timers.length > 0 ? `did not end within ${withinMs} ms` : "waits for what nobody does: nothing is left to run";
      throw new Error(`the work ${why} (at ${Math.round(this.#nowMs)} ms, after ${this.#turns} turns)`);
    }
    return work;
  }

  async advance(byMs: number): Promise<void> {
    if (!(byMs >= 0 && byMs < Infinity)) {
      throw new RangeError(`advance expects milliseconds, got ${byMs}`);
    }
    const endMs = this.#nowMs + byMs;
    await this.#drive(async () => {
      await microtasks();
      while (await this.#advanceOnce(endMs)) {
        // The next turn.
      }
    });
    this.#nowMs = Math.max(this.#nowMs, endMs);
  }

  async hold<T>(work: Promise<T>): Promise<T> {
    this.#holding++;
    try {
      return await work;
    } finally {
      this.#holding--;
    }
  }

  async #drive(work: () => Promise<void>): Promise<void> {
    if (this.#isDriven) {
      throw new RangeError("the clock is driven already: one run or advance at a time");
    }
    this.#isDriven = true;
    await work().finally(() => {
      this.#isDriven = false;
    });
  }

  /** One turn, or a leap to the next timer up to `endMs`; false if there is neither. */
  async #advanceOnce(endMs: number): Promise<boolean> {
    this.#releaseDue();
    if (this.#waiting > 0) {
      await this.#turn();
      return true;
    }
    do {
      await loopTurn();
    } while (this.#holding > 0 && this.#waiting === 0);
    if (this.#waiting > 0) {
      return true;
    }
    const next = this.#nextTimer();
    if (next === undefined || next.dueMs > endMs) {
      return false;
    }
    this.#nowMs = next.dueMs;
    return true;
  }

  async #turn(): Promise<void> {
    this.#waiting--;
    this.#turns++;
    this.#nowMs += this.#turnMs === 0 ? 0 : 2 * this.#turnMs * this.#scheduler.random();
    this.#scheduler.take()?.();
    await (this.#turns % turnsPerLoop === 0 ? loopTurn() : microtasks());
  }

  /** Where nothing is due any more, whether work that the clock does not know of goes on after all. */
  async #outsideBrings(isSettled: () => boolean): Promise<boolean> {
    const untilMs = performance.now() + patienceMs;
    while (this.#nextTimer() === undefined && performance.now() < untilMs) {
      await loopTurn();
      if (isSettled() || this.#waiting > 0) {
        return true;
      }
    }
    return false;
  }

  #releaseDue(): void {
    for (let next = this.#nextTimer(); next !== undefined && next.dueMs <= this.#nowMs; next = this.#nextTimer()) {
      this.#timers.shift();
      const timer = next;
      this.#post(() => {
        if (!timer.isCancelled) {
          timer.call();
        }
      });
    }
  }

  #nextTimer(): Timer | undefined {
    while (this.#timers[0]?.isCancelled === true) {
      this.#timers.shift();
    }
    return this.#timers[0];
  }

  #post(turn: () => void): void {
    this.#waiting++;
    this.#scheduler.post(turn);
  }
}

/** Resolves when every promise that could go on has gone on. */
function microtasks(): Promise<void> {
  // Node runs the next tick once the queue of promises is empty.
  return new Promise((resolve) => process.nextTick(resolve));
}

function loopTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
