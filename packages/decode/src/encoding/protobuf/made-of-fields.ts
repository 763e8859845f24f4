import type { MessageInstruction } from "./read-instructions.ts";

const known = new WeakMap<MessageInstruction, boolean>();

/**
 * Whether the object of a message still holds all that its bytes said, so that a second part can be read into it. It does not if the
 * message, or a message inside of it, became something else: a time, a wrapped number, a JSON document.
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
      lost.add(outer); // the loop also visits what is added here
    }
  }
  for (const instruction of around.keys()) {
    known.set(instruction, !lost.has(instruction));
  }
  return !lost.has(message);
}

/**
 * All messages inside of this one and itself, each with the messages that contain it. Found once for all of them, because they may be many.
 */
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
