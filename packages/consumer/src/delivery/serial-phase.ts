import type { Failure } from "../failure/failure.ts";
import type { Tries } from "../failure/retry-policy.ts";
import type { WorkInHand } from "../observe/waits.ts";

/** What failed, and what has been tried with it so far. */
export interface FailedAttempt {
  readonly failure: Failure;
  readonly tries: Tries;
  /** The next step attempts one by one what failed together: only one of the records may be to blame. Null if it was one. */
  readonly isolate: (() => void) | null;
}

/**
 * One of the two phases of the serial work on a fetched batch: its records one by one, and then what was held for batch handlers. What is common to them is
 * how a failure of what is current is dealt with.
 */
export interface SerialPhase {
  /** What was awaited has resolved. A handler's call that was under way is answered. */
  resumed(): void;
  failureOf(error: unknown): FailedAttempt;
  /** The next step attempts again what failed. Resolves when that may be. */
  retryAfter(delayMs: number): Promise<void>;
  /** What failed is dealt with in another way: the next step goes on after it. */
  skip(): void;
  /** What is in hand. */
  atWork(): Iterable<WorkInHand>;
}
