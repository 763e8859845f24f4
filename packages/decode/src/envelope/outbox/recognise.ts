import type { Shape } from "../envelope.ts";

/** Where the router sends events unless its `route.topic.replacement` says otherwise. */
const topicPrefix = "outbox.event.";

/** Headers of the router: the event's id is always there, its type where `table.fields.additional.placement` has it under its usual name. */
export const outboxHeaders: readonly string[] = ["id", "eventType"];

/** What says that a value is the payload of an outbox event, or null. Nothing in the payload itself does. */
export function recogniseOutbox({ topic, headerNames }: Shape): string | null {
  if (topic.startsWith(topicPrefix)) {
    return `a topic named ${topicPrefix}*`;
  }
  return outboxHeaders.every((name) => headerNames.includes(name)) ? "headers id and eventType" : null;
}
