import type { RecordCoordinates } from "@cdckit/decode";
import { ConsumerError } from "../errors.ts";
import { placeText } from "../failure/record-place.ts";
import { causeText } from "../observe/cause-text.ts";
import { pendingOf } from "./user-value.ts";

/** Calls a function of the user's that must not throw. If it does, throws a `ConsumerError` that names it. */
export function callUser<T>(what: string, call: () => T, at?: RecordCoordinates): T {
  try {
    return call();
  } catch (cause) {
    throw callbackFailed(what, `it threw ${causeText(cause)}`, cause, at);
  }
}

/** The error that says that a function of the user's did what it must not do. */
export function callbackFailed(what: string, found: string, cause?: unknown, at?: RecordCoordinates): ConsumerError {
  const where = at === undefined ? "" : ` at ${placeText(at)}`;
  const thrown = cause === undefined ? "" : ", the cause is what it threw";
  return new ConsumerError("callback-failed", `${what} must not fail, and did${where}: ${found}; correct it${thrown}`, {
    cause,
    ...(at === undefined ? {} : { at }),
  });
}

/**
 * The functions of the options that are called all the time. If a function fails that others depend on (a clock, `random`), the consumer
 * halts. If a function fails that only observes (a logger, telemetry), nothing stops: its failures are counted, and `health()` reports
 * them.
 */
export class UserFunctions {
  readonly #lookersOn = new Map<string, { count: number; last: string }>();
  #failure: ConsumerError | null = null;
  #onFailure: (error: Error) => void = () => {};

  /** Registers what is called after a function has failed that others depend on. */
  onFailure(call: (error: Error) => void): void {
    this.#onFailure = call;
  }

  /** A function failed that others depend on. */
  failed(what: string, found: string, cause?: unknown): void {
    if (this.#failure === null) {
      const failure = callbackFailed(what, found, cause);
      this.#failure = failure;
      // Not in this turn: the code that asked for the time may be in the middle of a change of state.
      queueMicrotask(() => this.#onFailure(failure));
    }
  }

  /** Calls a function that only observes. Undefined if it threw. A promise that it gives is not waited for. */
  lookOn<T>(what: string, call: () => T): T | undefined {
    try {
      const result = call();
      pendingOf(result)?.catch((error: unknown) => this.#note(what, error));
      return result;
    } catch (error) {
      this.#note(what, error);
      return undefined;
    }
  }

  /** The failures of functions that only observe, in words. */
  get reasons(): readonly string[] {
    return [...this.#lookersOn].map(
      ([what, { count, last }]) => `${what} failed ${count} times, which stops nothing; the last time: ${last}`,
    );
  }

  #note(what: string, error: unknown): void {
    const known = this.#lookersOn.get(what);
    this.#lookersOn.set(what, { count: (known?.count ?? 0) + 1, last: causeText(error) });
  }
}
