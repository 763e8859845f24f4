import { type Clock, systemClock } from "../clock.ts";
import type { UserFunctions } from "./user-functions.ts";
import { pendingOf } from "./user-value.ts";

/**
 * The user's clock. If it throws or gives no number, the process' own clock takes over from then on: the consumer halts, and needs a clock
 * for its stop.
 */
export function guardedClock(clock: Clock, functions: UserFunctions): Clock {
  return clock === systemClock ? clock : new GuardedClock(clock, functions);
}

class GuardedClock implements Clock {
  #clock: Clock;
  readonly #functions: UserFunctions;

  constructor(clock: Clock, functions: UserFunctions) {
    this.#clock = clock;
    this.#functions = functions;
  }

  nowMs(): number {
    return this.#number("nowMs");
  }

  wallMs(): number {
    return this.#number("wallMs");
  }

  after(delayMs: number, call: () => void): () => void {
    let isOver = false;
    const callOnce = (): void => {
      if (!isOver) {
        isOver = true;
        call();
      }
    };
    let isAsking = true;
    // If a clock called at once, its caller could not cancel the call yet.
    const due = (): void => (isAsking ? queueMicrotask(callOnce) : callOnce());
    let takeBack = this.#ask("after", (clock) => clock.after(delayMs, due));
    if (typeof takeBack !== "function") {
      this.#failed("after", "it returned no function that cancels the call");
      takeBack = systemClock.after(delayMs, due);
    }
    isAsking = false;
    return () => {
      if (!isOver) {
        isOver = true;
        this.#takeBack(takeBack);
      }
    };
  }

  yieldToEventLoop(): Promise<void> {
    const yielded = pendingOf(this.#ask("yieldToEventLoop", (clock) => clock.yieldToEventLoop()));
    return (yielded ?? systemClock.yieldToEventLoop()).then(nothing, (error: unknown) => {
      this.#failed("yieldToEventLoop", "it rejected", error);
      return systemClock.yieldToEventLoop();
    });
  }

  #takeBack(takeBack: () => void): void {
    try {
      takeBack();
    } catch (error) {
      this.#failed("after", "the function that it returned threw", error);
    }
  }

  #number(method: "nowMs" | "wallMs"): number {
    const value = this.#ask(method, (clock) => clock[method]());
    if (Number.isFinite(value)) {
      return value;
    }
    this.#failed(method, `it gave ${typeof value === "number" ? value : typeof value}, expected milliseconds`);
    return systemClock[method]();
  }

  #ask<T>(method: string, ask: (clock: Clock) => T): T {
    try {
      return ask(this.#clock);
    } catch (error) {
      this.#failed(method, "it threw", error);
      return ask(systemClock);
    }
  }

  #failed(method: string, found: string, cause?: unknown): void {
    this.#clock = systemClock;
    this.#functions.failed(`clock.${method}()`, found, cause);
  }
}

/** The user's source of random numbers. If it throws or gives no number from 0 to below 1, the language's own takes over from then on. */
export function guardedRandom(random: () => number, functions: UserFunctions): () => number {
  if (random === Math.random) {
    return random;
  }
  let use = random;
  const failed = (found: string, cause?: unknown): number => {
    use = Math.random;
    functions.failed("random()", found, cause);
    return Math.random();
  };
  return () => {
    try {
      const value = use();
      return value >= 0 && value < 1 ? value : failed("it gave no number from 0 to below 1");
    } catch (error) {
      return failed("it threw", error);
    }
  };
}

function nothing(): void {}
