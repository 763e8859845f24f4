import { createHash } from "node:crypto";
import type { RegisteredSchema, SchemaType } from "../schema-source.ts";

/**
 * A schema that a message carries itself. Its id is made from its text, so that two messages share a reader only if their schemas are the
 * same. An id that the sender chose could be the same for two different schemas.
 */
export function inlineSchema(schemaType: SchemaType, text: Buffer): RegisteredSchema {
  const digest = createHash("sha256").update(text).digest("hex");
  return { id: `inline:${schemaType}:${digest}`, schemaType, schema: text.toString("utf8") };
}
