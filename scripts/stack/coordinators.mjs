import { withAdmin } from "./topics.mjs";
import { waitUntil } from "./wait.mjs";

// One group for each of the four partitions of the stack's offsets topic: Kafka takes the hash of the name, which is here that of the letter.
const groups = ["a", "b", "c", "d"];

/**
 * Waits until the broker answers for every group. A new one makes the topic of offsets when it is first asked and then loads it, and until
 * then the first consumer gets warnings of its client that help nobody.
 * @param {string} brokers
 * @param {AbortSignal | undefined} signal
 */
export function untilGroupsAreKnown(brokers, signal) {
  return waitUntil({
    what: "the coordinator of groups",
    deadlineMs: 60_000,
    signal,
    check: () =>
      withAdmin(brokers, async (admin) => {
        for (const groupId of groups) await admin.fetchOffsets({ groupId });
        return true;
      }),
  });
}
