import { wire } from "./cursor.ts";
import type { FieldType } from "./messages.ts";
import type { FieldStep, Step } from "./steps.ts";

/** The wire type of one value. */
export function wireOf(step: Step): number {
  return step.kind === "message" && step.isGroup ? wire.groupStart : wireOfKind(step.kind);
}

/** The wire type of values of a kind; of a message that is no group. */
export function wireOfKind(kind: Step["kind"] | FieldType["kind"]): number {
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

/** Whether a repeated field's values may stand together behind one length. */
export function canBePacked({ cardinality, step }: FieldStep): boolean {
  return cardinality === "repeated" && step.kind !== "string" && step.kind !== "bytes" && step.kind !== "message";
}

/** The tag of a field whose value stands on the wire like this. */
export function tagOf(field: FieldStep, wireType: number): number {
  return ((field.number << 3) | wireType) >>> 0;
}
