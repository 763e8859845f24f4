import type { Shape } from "../envelope.ts";

/** Recognises AWS DMS's messages by their metadata, which every message has. */
export function recogniseDms({ fields, fieldsOf }: Shape): string | null {
  const isAlone = fields?.length === 1;
  if (fields?.includes("metadata") !== true || !(isAlone || fields.includes("data") || fields.includes("control"))) {
    return null;
  }
  const metadata = fieldsOf("metadata");
  return metadata === null || (metadata.includes("record-type") && metadata.includes("operation"))
    ? "field metadata, alone or beside data or control"
    : null;
}
