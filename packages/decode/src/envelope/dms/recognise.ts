import type { Shape } from "../envelope.ts";

/** What AWS DMS says of every message. */
export function recogniseDms({ fields, fieldsOf }: Shape): string | null {
  const metadata = fields?.includes("metadata") === true ? fieldsOf("metadata") : null;
  return metadata !== null && metadata.includes("record-type") && metadata.includes("operation")
    ? "fields record-type and operation in metadata"
    : null;
}
