import type { MessageInstruction } from "./read-instructions.ts";

const known = new WeakMap<MessageInstruction, boolean>();

/**
 * Whether a message is just its fields, and the messages in them are: what its first part became then still holds all that the part said.
 * A time, a wrapped number or a document does not, wherever in it that stands.
 */
export function isMadeOfFields(message: MessageInstruction): boolean {
  const answer = known.get(message);
  if (answer !== undefined) {
    return answer;
  }
  const around = messagesAround(message);
  const others = [...around.keys()].filter(({ special, convert, finish }) => special !== null || convert !== null || finish !== null);
  const lost = new Set(others);
  for (const instruction of lost) {
    for (const outer of around.get(instruction) ?? []) {
      lost.add(outer); // a set is walked to the end that it has by then
    }
  }
  for (const instruction of around.keys()) {
    known.set(instruction, !lost.has(instruction));
  }
  return !lost.has(message);
}

/** All messages that one is made of, itself among them, each with those that it stands in. Once for all of them: they may be many. */
function messagesAround(message: MessageInstruction): ReadonlyMap<MessageInstruction, readonly MessageInstruction[]> {
  const around = new Map<MessageInstruction, MessageInstruction[]>([[message, []]]);
  for (const [outer] of around) {
    for (const { cardinality, instruction, use } of outer.fields) {
      if (cardinality === "single" && instruction.kind === "message" && use === "read") {
        const known = around.get(instruction.message) ?? [];
        around.set(instruction.message, known);
        known.push(outer);
      }
    }
  }
  return around;
}
