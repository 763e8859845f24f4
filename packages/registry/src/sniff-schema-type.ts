import type { SchemaType } from "@cdckit/decode";
import { parseJsonWithin } from "./json.ts";
import { isObject } from "./schema-answer.ts";

/** A struct in a struct takes four levels of a schema's JSON. Deeper than the decoder reads one. */
const maxDepth = 2_000;

const jsonTypes: ReadonlySet<unknown> = new Set(["object", "array", "string", "number", "integer", "boolean", "null"]);
const connectTypes: ReadonlySet<unknown> = new Set("struct map array int8 int16 int32 int64 float double bytes".split(" "));

/** The type of a schema by its text, for registries that return a text without its type. */
export function sniffSchemaType(text: string): SchemaType {
  let schema: unknown;
  try {
    schema = parseJsonWithin(Buffer.from(text, "utf8"), maxDepth);
  } catch {
    return "PROTOBUF"; // texts of the other types are JSON
  }
  if (!isObject(schema)) {
    return "AVRO"; // a name of a type, or a union
  }
  const { type } = schema;
  if (connectTypes.has(type) && ("optional" in schema || "field" in schema || "fields" in schema)) {
    return "KCONNECT";
  }
  return typeof type !== "string" || jsonTypes.has(type) ? "JSON" : "AVRO"; // a type that both have is more often JSON Schema's
}
