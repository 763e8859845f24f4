import type { LostRange } from "@cdckit/consumer";
import type { Held } from "./assignments.ts";
import { type LogScout, placeOf } from "./log-scout.ts";
import { lostRangeAt } from "./lost-range.ts";

/** What the log lacks where the partition is to go on, or null where it can go on. */
export async function missingOf(scout: LogScout, { assignment, expected }: Held): Promise<LostRange | null> {
  const { topic, partition } = assignment;
  const log = (await scout.ends([topic])).get(placeOf(topic, partition));
  return log === undefined || expected === null ? null : lostRangeAt(assignment, expected, log);
}

/**
 * Where the topic is another one under the same name: what this member's position does not mean any more, or null. Kafka drops the commits
 * of a topic with the topic, so a commit that was there, and is not, tells. Where nothing was committed, this cannot be seen.
 */
export async function madeAnewOf(scout: LogScout, groupId: string, { assignment, expected, reached }: Held): Promise<LostRange | null> {
  const { topic, partition } = assignment;
  const place = placeOf(topic, partition);
  const [committed, ends] = await Promise.all([scout.committed(groupId, [topic]), scout.ends([topic])]);
  const log = ends.get(place);
  if (reached === null || log === undefined || committed.has(place)) {
    return null;
  }
  return { topic, partition, firstMissing: expected ?? reached, firstAvailable: log.low, end: log.high };
}
