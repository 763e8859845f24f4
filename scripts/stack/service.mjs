import { logTail } from "./process.mjs";
import { waitUntil } from "./wait.mjs";

/**
 * What every service of the stack is started with.
 * @typedef {object} ServiceOptions
 * @property {string} dir where its data, its log and its scratch files go
 * @property {string} [cacheDir] of downloads
 * @property {boolean} [outlive] whether it goes on after this process has ended
 * @property {import("./jars.mjs").Log} [log]
 * @property {AbortSignal | undefined} [signal]
 * @property {((record: import("./process.mjs").ProcessRecord) => void) | undefined} [onSpawn] told before the service is ready, so that it can be stopped
 */

/**
 * Tells of a process at once, waits until it serves, and stops it when it does not.
 * @param {object} service
 * @param {string} service.what completes the sentence "... was not ready after 60 s"
 * @param {import("./process.mjs").Running} service.running
 * @param {() => Promise<boolean>} service.check may throw: that counts as "not yet"
 * @param {number} service.deadlineMs
 * @param {() => Promise<void>} service.stop
 * @param {Pick<ServiceOptions, "signal" | "onSpawn">} options
 */
export async function untilServing({ what, running, check, deadlineMs, stop }, { signal, onSpawn }) {
  onSpawn?.(running.record);
  try {
    await waitUntil({ what, check, deadlineMs, giveUp: running.assertAlive, hint: () => logTail(running.record.log), signal });
  } catch (error) {
    await stop();
    throw error;
  }
}
