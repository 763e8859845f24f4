import { type RegistryClock, wait } from "./clock.ts";
import { isRegistryError, type RegistryError } from "./errors.ts";

export interface RetryPolicy {
  readonly attempts: number;
  readonly baseDelayMs: number;
  readonly maxDelayMs: number;
}

export interface RetryTools {
  readonly clock: RegistryClock;
  readonly random: () => number;
  readonly closed: AbortSignal;
  /** Called before each pause, with what failed. */
  readonly onPause: (error: RegistryError) => void;
  readonly onRetry: () => void;
}

/** Asks again, after a pause, if the failure was transient. */
export async function withRetry<T>(policy: RetryPolicy, tools: RetryTools, ask: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await ask();
    } catch (error) {
      if (!isRegistryError(error) || !error.retriable || tools.closed.aborted) {
        throw error;
      }
      if (attempt >= policy.attempts) {
        throw attempt === 1 ? error : error.withNote(`gave up after ${attempt} attempts`);
      }
      tools.onPause(error);
      await wait(tools.clock, pauseMs(policy, attempt, error, tools.random), tools.closed);
      tools.onRetry();
    }
  }
}

/**
 * Full jitter: a random part of a bound that doubles, so that consumers that failed together do not come back together. If the registry asked
 * for a pause, that pause counts, up to the largest bound.
 */
export function pauseMs(policy: RetryPolicy, attempt: number, error: RegistryError, random: () => number): number {
  const jitterMs = random() * Math.min(policy.maxDelayMs, policy.baseDelayMs * 2 ** (attempt - 1));
  return Math.min(policy.maxDelayMs, (error.retryAfterMs ?? 0) + jitterMs);
}
