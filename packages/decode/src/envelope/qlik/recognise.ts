import type { Shape } from "../envelope.ts";

/** Recognises Qlik Replicate's message, with or without its outer envelope. */
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
