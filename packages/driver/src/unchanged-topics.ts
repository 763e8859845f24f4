import type { TopicIdsByName } from "./broker-questions.ts";

/**
 * The topics whose ids were the same before and after other questions. Between two answers a topic may be deleted, and another one of its name be
 * created: its id would then be that of one topic, and the offsets and ends of its log those of the other. A topic that did not exist is left out
 * also if it did not exist both times: brokers forget the name of a topic before its log and its commits, and still answer about those.
 */
export function unchangedTopics(topics: readonly string[], before: TopicIdsByName, after: TopicIdsByName): ReadonlySet<string> {
  return new Set(topics.filter((topic) => before.get(topic) === after.get(topic) && before.get(topic) !== null));
}
