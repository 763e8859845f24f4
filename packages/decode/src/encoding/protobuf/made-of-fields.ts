import type { MessageStep } from "./steps.ts";

const known = new WeakMap<MessageStep, boolean>();

/**
 * Whether a message is just its fields, and the messages in them are: what its first part became then still holds all that the part said.
 * A time, a wrapped number or a document does not, wherever in it that stands.
 */
export function isMadeOfFields(message: MessageStep): boolean {
  const answer = known.get(message);
  if (answer !== undefined) {
    return answer;
  }
  const around = messagesAround(message);
  const others = [...around.keys()].filter(({ special, convert, finish }) => special !== null || convert !== null || finish !== null);
  const lost = new Set(others);
  for (const step of lost) {
    for (const outer of around.get(step) ?? []) {
      lost.add(outer); // a set is walked to the end that it has by then
    }
  }
  for (const step of around.keys()) {
    known.set(step, !lost.has(step));
  }
  return !lost.has(message);
}

/** All messages that one is made of, itself among them, each with those that it stands in. Once for all of them: they may be many. */
function messagesAround(message: MessageStep): ReadonlyMap<MessageStep, readonly MessageStep[]> {
  const around = new Map<MessageStep, MessageStep[]>([[message, []]]);
  for (const [outer] of around) {
    for (const { cardinality, step, use } of outer.fields) {
      if (cardinality === "single" && step.kind === "message" && use === "read") {
        const known = around.get(step.message) ?? [];
        around.set(step.message, known);
        known.push(outer);
      }
    }
  }
  return around;
}
