import type { Shape } from "../envelope.ts";

/** The beginning of the router's topics, unless its `route.topic.replacement` is set. */
const topicPrefix = "outbox.event.";

/** The router's headers: the event's id, and its type if `table.fields.additional.placement` puts it into a header under its usual name. */
const certainHeaders: readonly string[] = ["id", "eventType"];

/** The event's id is always there, and Debezium's connectors name themselves in each record (`extended.headers.enabled`). */
const likelyHeaders: readonly string[] = ["id", "__debezium.context.connectorName"];

export const outboxHeaders: readonly string[] = [...new Set([...certainHeaders, ...likelyHeaders])];

/** The evidence that a value is the payload of an outbox event, or null. The payload itself has no such evidence. */
export function recogniseOutbox(shape: Pick<Shape, "topic" | "headerNames">): string | null {
  if (shape.topic.startsWith(topicPrefix)) {
    return `a topic named ${topicPrefix}*`;
  }
  return isCertain(shape)
    ? "headers id and eventType"
    : hasAll(likelyHeaders, shape)
      ? "a header id in a record of Debezium, whose key has no columns"
      : null;
}

/** Whether a value is an outbox event's payload, whatever the record's key is: a header `id` alone may be anybody's. */
export function isCertain({ topic, headerNames }: Pick<Shape, "topic" | "headerNames">): boolean {
  return topic.startsWith(topicPrefix) || hasAll(certainHeaders, { headerNames });
}

function hasAll(names: readonly string[], { headerNames }: Pick<Shape, "headerNames">): boolean {
  return names.every((name) => headerNames.includes(name));
}
