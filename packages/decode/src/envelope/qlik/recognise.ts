import type { Shape } from "../envelope.ts";

/** Qlik Replicate's message, in its outer envelope or without it. */
export function recogniseQlik({ fields, fieldsOf }: Shape): string | null {
  if (fields === null) {
    return null;
  }
  if (fields.includes("magic") && fields.includes("message")) {
    return fieldsOf("message")?.includes("headers") === false ? null : "fields magic and message";
  }
  if (!fields.includes("data") || !fields.includes("headers")) {
    return null;
  }
  const headers = fieldsOf("headers");
  return headers === null || (headers.includes("operation") && headers.includes("changeSequence")) ? "fields data and headers" : null;
}
