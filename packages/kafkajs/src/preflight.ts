import { setTimeout as delay } from "node:timers/promises";
import type { Subscription } from "@cdckit/consumer";
import type { Admin } from "kafkajs";
import { KafkaJsDriverError } from "./errors.ts";

/**
 * Looks before the group is joined, because kafkajs would not say: a missing topic is created or retried for ever, and a committed offset
 * that is not in the log any more is silently moved to the log's start or end. Returns the topics of the subscription by name.
 */
export async function preflight(admin: Admin, subscription: Subscription): Promise<readonly string[]> {
  const topics = matchTopics(subscription.topics, await admin.listTopics());
  await checkCommittedOffsets(admin, subscription.groupId, topics);
  return topics;
}

function matchTopics(wanted: readonly (string | RegExp)[], existing: readonly string[]): readonly string[] {
  const missing = wanted.filter((topic) => typeof topic === "string" && !existing.includes(topic));
  if (missing.length > 0) {
    throw new KafkaJsDriverError(
      "topic-missing",
      `there is no topic ${missing.join(", ")}${likeness(missing, existing)}. Is the connector running, and is the name complete (prefix.schema.table)?`,
    );
  }
  const matched = existing.filter((name) =>
    // search() ignores lastIndex, so a global expression cannot skip every second topic.
    wanted.some((topic) => (typeof topic === "string" ? topic === name : !name.startsWith("__") && name.search(topic) !== -1)),
  );
  if (matched.length === 0) {
    throw new KafkaJsDriverError("topic-missing", `no topic matches ${wanted.join(", ")}; the brokers have ${existing.length} topics`);
  }
  return matched;
}

/** Names that end alike: a wrong prefix is the usual mistake. */
function likeness(missing: readonly (string | RegExp)[], existing: readonly string[]): string {
  const last = String(missing[0]).split(".").at(-1) ?? "";
  const alike = existing.filter((name) => last !== "" && name.endsWith(last)).slice(0, 3);
  return alike.length === 0 ? "" : `; there is ${alike.join(", ")}`;
}

async function checkCommittedOffsets(admin: Admin, groupId: string, topics: readonly string[]): Promise<void> {
  const committed = await committedOffsets(admin, groupId, topics);
  for (const { topic, partitions } of committed) {
    const withCommit = partitions.filter(({ offset }) => BigInt(offset) >= 0n);
    if (withCommit.length > 0) {
      const log = new Map((await admin.fetchTopicOffsets(topic)).map(({ partition, low, high }) => [partition, { low, high }]));
      for (const { partition, offset } of withCommit) {
        checkInLog({ groupId, topic, partition, offset: BigInt(offset) }, log.get(partition));
      }
    }
  }
}

/** A coordinator that moves, or is loaded for a broker's first group, answers soon; kafkajs' admin asks only once. */
const coordinatorErrors: ReadonlySet<unknown> = new Set([
  "GROUP_LOAD_IN_PROGRESS",
  "GROUP_COORDINATOR_NOT_AVAILABLE",
  "NOT_COORDINATOR_FOR_GROUP",
]);
const coordinatorDeadlineMs = 15_000;
const coordinatorPauseMs = 200;

async function committedOffsets(admin: Admin, groupId: string, topics: readonly string[]): ReturnType<Admin["fetchOffsets"]> {
  for (let waitedMs = 0; ; waitedMs += coordinatorPauseMs) {
    try {
      return await admin.fetchOffsets({ groupId, topics: [...topics] });
    } catch (error) {
      const { type } = error as { type?: unknown };
      if (!coordinatorErrors.has(type) || waitedMs >= coordinatorDeadlineMs) {
        throw error;
      }
    }
    await delay(coordinatorPauseMs);
  }
}

interface Committed {
  readonly groupId: string;
  readonly topic: string;
  readonly partition: number;
  readonly offset: bigint;
}

function checkInLog(
  { groupId, topic, partition, offset }: Committed,
  log: { readonly low: string; readonly high: string } | undefined,
): void {
  if (log === undefined || (offset >= BigInt(log.low) && offset <= BigInt(log.high))) {
    return;
  }
  const isGone = offset < BigInt(log.low);
  const what = isGone
    ? `the records from ${offset} to ${BigInt(log.low) - 1n} are gone, and group ${groupId} has not handled them`
    : `the log ends at ${log.high}, before the offset ${offset} that group ${groupId} has committed: the topic was made anew or truncated`;
  throw new KafkaJsDriverError(
    "offset-out-of-range",
    `${topic}[${partition}]: ${what}. Decide where to go on, and set the group's offset (kafka-consumer-groups --reset-offsets)`,
  );
}
