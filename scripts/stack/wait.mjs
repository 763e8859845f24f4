import { setTimeout as delay } from "node:timers/promises";
import { StackError } from "./stack-error.mjs";

/**
 * Asks again and again until the answer is neither null nor false, and returns it.
 * @template T
 * @param {object} options
 * @param {string} options.what completes the sentence "... was not ready after 60 s"
 * @param {() => Promise<T | null | false>} options.check may throw: that counts as "not yet", and the last reason is kept
 * @param {number} options.deadlineMs
 * @param {number} [options.everyMs]
 * @param {() => void} [options.giveUp] throws when waiting on is in vain, such as after the process died
 * @param {() => string} [options.hint] added to the error
 * @param {AbortSignal | undefined} [options.signal]
 * @returns {Promise<T>}
 */
export async function waitUntil({ what, check, deadlineMs, everyMs = 150, giveUp = () => {}, hint = () => "", signal }) {
  const until = Date.now() + deadlineMs;
  let reason = "";
  do {
    if (signal?.aborted) throw new StackError("interrupted", `stopped while waiting for ${what}`);
    giveUp();
    try {
      const answer = await check();
      if (answer !== null && answer !== false) return answer;
    } catch (error) {
      reason = error instanceof Error ? `: ${error.message}` : "";
    }
    await delay(everyMs);
  } while (Date.now() < until);
  throw new StackError("not-ready", `${what} was not ready after ${Math.round(deadlineMs / 1000)} s${reason}${hint()}`);
}
