import type { Subscription } from "@cdckit/consumer";
import type { BrokerQuestions } from "./broker-questions.ts";
import type { MakeDriverError } from "./errors.ts";
import { lostRangeAt, lostRangeError, resumeOffset } from "./lost-range.ts";
import { neededToRead, neededToWrite } from "./missing-right.ts";
import { placeNamed } from "./place.ts";
import { unchangedTopics } from "./unchanged-topics.ts";

/**
 * Checks topics and offsets before the group is joined, because clients would not report them: they create a missing topic, or wait for it for
 * ever. Returns the topics of the subscription by name.
 */
export async function preflight(
  brokers: BrokerQuestions,
  subscription: Subscription,
  makeError: MakeDriverError,
): Promise<readonly string[]> {
  const existing = await brokers.topics();
  await refuseHidden(brokers, subscription, existing, makeError);
  const topics = matchTopics(subscription.topics, existing, makeError);
  await prepareWritten(brokers, subscription, existing, makeError);
  // If `startAt` or a policy decides on the start, its position is checked when the partition starts.
  if (subscription.startAt === undefined) {
    await checkCommittedOffsets(brokers, subscription, topics, makeError);
  }
  return topics;
}

/** A topic that the user may not see looks like one that is missing. Whoever looks for the connector or for a slip then looks for the wrong thing. */
async function refuseHidden(
  brokers: BrokerQuestions,
  { topics, writesTo = [] }: Subscription,
  existing: readonly string[],
  makeError: MakeDriverError,
): Promise<void> {
  const read = topics.filter((topic) => typeof topic === "string");
  const written = writesTo.filter(({ create }) => create === null).map(({ topic }) => topic); // a topic to be created is not there
  const missing = [...new Set([...read, ...written])].filter((topic) => !existing.includes(topic));
  const hidden = missing.length === 0 ? [] : ((await brokers.hidden?.(missing)) ?? []);
  const [first] = hidden;
  if (first !== undefined) {
    const needed = read.includes(first)
      ? neededToRead("topic", { groupId: "", topics: read.filter((topic) => hidden.includes(topic)) })
      : neededToWrite("topic", hidden, null);
    throw makeError("not-authorized", `the brokers do not say whether there is a topic ${hidden.join(", ")}. ${needed}`);
  }
}

/** A dead letter that cannot be written would hold up its partition, so its topic is checked at the start. */
async function prepareWritten(
  brokers: BrokerQuestions,
  { writesTo = [], logger }: Subscription,
  existing: readonly string[],
  makeError: MakeDriverError,
): Promise<void> {
  for (const { topic, option, create } of writesTo.filter((written) => !existing.includes(written.topic))) {
    if (create === null) {
      throw makeError(
        "topic-missing",
        `there is no topic ${topic}, which ${option} names${likeness([topic], existing)}. Create it, or set failure.createDeadLetterTopic`,
      );
    }
    await brokers.createTopic(topic, create);
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

function matchTopics(wanted: readonly (string | RegExp)[], existing: readonly string[], makeError: MakeDriverError): readonly string[] {
  const missing = wanted.filter((topic) => typeof topic === "string" && !existing.includes(topic));
  if (missing.length > 0) {
    throw makeError(
      "topic-missing",
      `there is no topic ${missing.join(", ")}${likeness(missing, existing)}. Is the connector running, and is the name complete (prefix.schema.table)?`,
    );
  }
  const matched = wantedTopics(wanted, existing);
  if (matched.length === 0) {
    throw makeError("topic-missing", `no topic matches ${wanted.join(", ")}; the user may see ${existing.length} topics`);
  }
  return matched;
}

/** Topics whose names have the same end, because the usual mistake is a wrong prefix. */
function likeness(missing: readonly (string | RegExp)[], existing: readonly string[]): string {
  const last = String(missing[0]).split(".").at(-1) ?? "";
  const similar = existing.filter((name) => last !== "" && name.endsWith(last)).slice(0, 3);
  return similar.length === 0 ? "" : `; there is ${similar.join(", ")}`;
}

/** Topics that are being deleted or created are passed over: only the start of a partition waits until its topic is known. */
async function checkCommittedOffsets(
  brokers: BrokerQuestions,
  { groupId, lostRange }: Subscription,
  topics: readonly string[],
  makeError: MakeDriverError,
): Promise<void> {
  const [places, ids] = await Promise.all([brokers.partitionsOf(topics), brokers.topicIds(topics)]);
  const committed = await brokers.committed(places);
  if (committed.size === 0) {
    return;
  }
  // After the commits: other members read on meanwhile, and an older end of a log would lie before what they have committed.
  const ends = await brokers.ends(topics);
  const unchanged = unchangedTopics(topics, ids, await brokers.topicIds(topics));
  for (const [key, position] of committed) {
    const log = ends.get(key);
    const place = placeNamed(key);
    if (log === undefined || !unchanged.has(place.topic)) {
      continue;
    }
    const lost = lostRangeAt({ ...place, topicId: ids.get(place.topic) ?? null }, position, log);
    if (lost !== null && resumeOffset(lost, lostRange) === null) {
      throw lostRangeError(makeError, lost, groupId);
    }
  }
}
