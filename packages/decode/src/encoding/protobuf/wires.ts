import { wire } from "./cursor.ts";
import type { FieldType } from "./messages.ts";
import type { FieldInstruction, ReadInstruction } from "./read-instructions.ts";

/** The wire type of one value. */
export function wireOf(instruction: ReadInstruction): number {
  return instruction.kind === "message" && instruction.isGroup ? wire.groupStart : wireOfKind(instruction.kind);
}

/** The wire type of values of a kind. A message here is one with a length, not a group. */
export function wireOfKind(kind: ReadInstruction["kind"] | FieldType["kind"]): number {
  switch (kind) {
    case "double":
    case "fixed64":
    case "sfixed64":
      return wire.eight;
    case "float":
    case "fixed32":
    case "sfixed32":
      return wire.four;
    case "string":
    case "bytes":
    case "message":
      return wire.length;
    default:
      return wire.varint;
  }
}

/** Whether the values of a repeated field may be packed: many values after one length. */
export function canBePacked({ cardinality, instruction }: FieldInstruction): boolean {
  return cardinality === "repeated" && instruction.kind !== "string" && instruction.kind !== "bytes" && instruction.kind !== "message";
}

/** The tag of a field whose value has this wire type. */
export function tagOf(field: FieldInstruction, wireType: number): number {
  return ((field.number << 3) | wireType) >>> 0;
}
