import type { Places } from "../catch-up/tap-driver.ts";

/**
 * The ends without those that the group has committed. A partition that got nothing after the checkpoint gives nothing to the consumer that resumes,
 * so that nothing would ever say of it that everything is handled.
 */
export function pendingEnds(ends: Places, topic: string, committed: ReadonlyMap<number, bigint>): Places {
  const pending = [...(ends.get(topic) ?? [])].filter(([partition, end]) => (committed.get(partition) ?? 0n) < end);
  return new Map(ends).set(topic, new Map(pending));
}
