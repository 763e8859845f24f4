import type { Subscription } from "@cdckit/consumer";

/** What a broker refuses the user: each has rights of its own. */
export type RefusedResource = "topic" | "group" | "cluster" | "transactional-id";

/** Kafka's codes of answers to a user without the right, by https://kafka.apache.org/protocol#protocol_error_codes. */
const refusals: Readonly<Record<number, RefusedResource>> = Object.freeze({
  29: "topic",
  30: "group",
  31: "cluster",
  53: "transactional-id",
});

/** The group and the topics of a subscription: a right to read that is missing is one of theirs. */
export type GroupAndTopics = Pick<Subscription, "groupId" | "topics">;

/** What the first of Kafka's codes that means a missing right is about; null if none of them does. */
export function refusedResource(codes: readonly unknown[]): RefusedResource | null {
  const code = codes.find((one) => typeof one === "number" && refusals[one] !== undefined);
  return code === undefined ? null : (refusals[code as number] ?? null);
}

/** Which right is missing to read topics in a group, as a sentence. Brokers say what they refuse, and seldom the right. */
export function neededToRead(resource: RefusedResource, { groupId, topics }: GroupAndTopics): string {
  switch (resource) {
    case "group":
      return needs("Read", `the group ${groupId}`);
    case "topic":
      return needs("Describe and Read", topicsNamed(topics));
    default:
      return `${needs("Describe and Read", topicsNamed(topics))}, and Read on the group ${groupId}`;
  }
}

/** Which right is missing to write records, as a sentence. `groupId`: in transactions of this group. */
export function neededToWrite(resource: RefusedResource, topics: readonly string[], groupId: string | null): string {
  switch (resource) {
    case "group":
      return needs("Read", groupId === null ? "the group" : `the group ${groupId}`);
    case "transactional-id":
      return needs("Write", `the transactional ids that begin with ${groupId ?? "the group's name"}`);
    case "cluster":
      // The answer to a producer of a user without Write on any topic. Older brokers ask for a right of its own.
      return `${needs("Describe and Write", topicsNamed(topics))}; with brokers before Kafka 2.8, IdempotentWrite on the cluster, too`;
    case "topic":
      return needs("Describe and Write", topicsNamed(topics));
  }
}

/** Which right is missing to create a topic, as a sentence. Brokers answer so, too, if the topic is there and the user may not see it. */
export function neededToCreate(topic: string): string {
  return `${needs("Create", `the topic ${topic}`)}; if the topic is there, Describe and Write on it`;
}

function needs(right: string, resource: string): string {
  return `The user needs ${right} on ${resource}`;
}

const namedTopics = 3;

function topicsNamed(topics: readonly (string | RegExp)[]): string {
  const more = topics.length - namedTopics;
  const names = topics.slice(0, namedTopics).join(", ");
  return `the ${topics.length === 1 ? "topic" : "topics"} ${names}${more > 0 ? ` and ${more} more` : ""}`;
}
