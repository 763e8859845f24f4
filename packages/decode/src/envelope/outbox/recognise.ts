import type { Shape } from "../envelope.ts";

/** The beginning of the router's topics, unless its `route.topic.replacement` is set. */
const topicPrefix = "outbox.event.";

/**
 * Headers of the router. The event's id is always there. The event's type is there if `table.fields.additional.placement` puts it into a
 * header under its usual name.
 */
export const outboxHeaders: readonly string[] = ["id", "eventType"];

/** The evidence that a value is the payload of an outbox event, or null. The payload itself has no such evidence. */
export function recogniseOutbox({ topic, headerNames }: Shape): string | null {
  if (topic.startsWith(topicPrefix)) {
    return `a topic named ${topicPrefix}*`;
  }
  return outboxHeaders.every((name) => headerNames.includes(name)) ? "headers id and eventType" : null;
}
