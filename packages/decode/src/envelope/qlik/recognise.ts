import type { Shape } from "../envelope.ts";

/** Qlik Replicate's message, in its outer envelope or without it. */
export function recogniseQlik({ fields, fieldsOf }: Shape): string | null {
  if (fields === null) {
    return null;
  }
  if (fields.includes("magic") && fieldsOf("message")?.includes("headers") === true) {
    return "fields magic and message with headers";
  }
  const headers = fields.includes("data") && fields.includes("headers") ? fieldsOf("headers") : null;
  return headers !== null && headers.includes("operation") && headers.includes("changeSequence")
    ? "fields data, and operation and changeSequence in headers"
    : null;
}
