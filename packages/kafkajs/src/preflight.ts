import type { Subscription } from "@cdckit/consumer";
import { KafkaJsDriverError } from "./errors.ts";
import type { BrokerOffsets } from "./broker-offsets.ts";
import { resumeOffset, lostRangeAt, lostRangeError } from "./lost-range.ts";

/**
 * Checks topics and offsets before the group is joined, because kafkajs would not report them: it creates a missing topic or retries for ever,
 * and silently moves an offset that is not in the log to the log's start or end. Returns the topics of the subscription by name.
 */
export async function preflight(brokerOffsets: BrokerOffsets, subscription: Subscription): Promise<readonly string[]> {
  const existing = await brokerOffsets.topics();
  const topics = matchTopics(subscription.topics, existing);
  await prepareWritten(brokerOffsets, subscription, existing);
  // If `startAt` or a policy decides on the start, its position is checked when the partition starts.
  if (subscription.startAt === undefined) {
    await checkCommittedOffsets(brokerOffsets, subscription, topics);
  }
  return topics;
}

/** A dead letter that cannot be written would hold up its partition, so its topic is checked at the start. */
async function prepareWritten(
  brokerOffsets: BrokerOffsets,
  { writesTo = [], logger }: Subscription,
  existing: readonly string[],
): Promise<void> {
  for (const { topic, option, create } of writesTo.filter((written) => !existing.includes(written.topic))) {
    if (create === null) {
      throw new KafkaJsDriverError(
        "topic-missing",
        `there is no topic ${topic}, which ${option} names${likeness([topic], existing)}. Create it, or set failure.createDeadLetterTopic`,
      );
    }
    await brokerOffsets.createTopic(topic, create);
    logger.info({ topic, ...create }, "a topic was created");
  }
}

/** The existing topics among the wanted ones. */
export function wantedTopics(wanted: readonly (string | RegExp)[], existing: readonly string[]): readonly string[] {
  return existing.filter((name) =>
    // search() ignores lastIndex, so a global expression cannot skip every second topic.
    wanted.some((topic) => (typeof topic === "string" ? topic === name : !name.startsWith("__") && name.search(topic) !== -1)),
  );
}

function matchTopics(wanted: readonly (string | RegExp)[], existing: readonly string[]): readonly string[] {
  const missing = wanted.filter((topic) => typeof topic === "string" && !existing.includes(topic));
  if (missing.length > 0) {
    throw new KafkaJsDriverError(
      "topic-missing",
      `there is no topic ${missing.join(", ")}${likeness(missing, existing)}. Is the connector running, and is the name complete (prefix.schema.table)?`,
    );
  }
  const matched = wantedTopics(wanted, existing);
  if (matched.length === 0) {
    throw new KafkaJsDriverError("topic-missing", `no topic matches ${wanted.join(", ")}; the brokers have ${existing.length} topics`);
  }
  return matched;
}

/** Topics whose names have the same end, because the usual mistake is a wrong prefix. */
function likeness(missing: readonly (string | RegExp)[], existing: readonly string[]): string {
  const last = String(missing[0]).split(".").at(-1) ?? "";
  const similar = existing.filter((name) => last !== "" && name.endsWith(last)).slice(0, 3);
  return similar.length === 0 ? "" : `; there is ${similar.join(", ")}`;
}

async function checkCommittedOffsets(
  brokerOffsets: BrokerOffsets,
  { groupId, lostRange }: Subscription,
  topics: readonly string[],
): Promise<void> {
  const committed = await brokerOffsets.committed(groupId, topics);
  if (committed.size === 0) {
    return;
  }
  const [ends, ids] = await Promise.all([brokerOffsets.ends(topics), brokerOffsets.topicIds(topics)]);
  for (const [place, position] of committed) {
    const log = ends.get(place);
    const [topic = "", partition = ""] = place.split("\0");
    const topicId = ids.get(topic) ?? null;
    const lost = log === undefined ? null : lostRangeAt({ topic, partition: Number(partition), topicId }, position, log);
    if (lost !== null && resumeOffset(lost, lostRange) === null) {
      throw lostRangeError(lost, groupId);
    }
  }
}
