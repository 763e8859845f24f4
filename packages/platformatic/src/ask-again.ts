import { setTimeout as delay } from "node:timers/promises";

/** Which failures are no end, and for how long. */
export interface AskingAgain {
  /** Whether the same question may be answered later. */
  readonly mayPass: (error: unknown) => boolean;
  /** By `performance.now()`, in milliseconds. A failure that comes later is the last one. */
  readonly deadline: number;
  /** Milliseconds from a failure to the next question. */
  readonly pauseMs: number;
  /**
   * The same for the first failure, if it may pass sooner. Each later pause is twice as long, up to `pauseMs`.
   * @default pauseMs
   */
  readonly firstPauseMs?: number;
  /** Nothing is asked again after it. */
  readonly ended: AbortSignal;
  /** Called with each failure that is not the last one, before the pause: what may be out of date is forgotten, and who waits is informed. */
  readonly failed?: ((error: unknown) => void) | undefined;
  /** Resolves after so many milliseconds; rejects when `ended` is aborted. */
  readonly pass?: (ms: number) => Promise<unknown>;
}

/**
 * The answer to the first question that does not fail. Rejects with the last failure, and with an `AbortError` if `ended` is aborted before the next
 * question. A question that is under way is not cut off.
 */
export async function askAgain<T>(
  ask: () => Promise<T>,
  {
    mayPass,
    deadline,
    pauseMs,
    firstPauseMs = pauseMs,
    ended,
    failed,
    pass = (ms) => delay(ms, undefined, { signal: ended }),
  }: AskingAgain,
): Promise<T> {
  for (let nextPauseMs = firstPauseMs; ; nextPauseMs = Math.min(2 * nextPauseMs, pauseMs)) {
    try {
      return await ask();
    } catch (error) {
      if (!mayPass(error) || performance.now() > deadline) {
        throw error;
      }
      failed?.(error);
    }
    await pass(nextPauseMs);
  }
}
