import type { Shape } from "../envelope.ts";

/** Recognises GoldenGate's JSON: images of the row, or columns next to the operation's own fields. */
export function recogniseGoldengate({ fields }: Pick<Shape, "fields">): string | null {
  if (fields === null || !["table", "op_type", "op_ts"].every((name) => fields.includes(name))) {
    return null;
  }
  if (fields.includes("before") || fields.includes("after")) {
    return "fields table, op_type, op_ts and before or after";
  }
  return fields.includes("pos") ? "fields table, op_type, op_ts and pos" : null;
}
