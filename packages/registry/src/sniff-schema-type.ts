import type { SchemaType } from "@cdckit/decode";
import { parseJson } from "./json.ts";
import { isObject } from "./schema-answer.ts";

const avroTypes: ReadonlySet<unknown> = new Set(["record", "error", "enum", "fixed"]);
const connectTypes: ReadonlySet<unknown> = new Set(["struct", "int8", "int16", "int32", "int64", "float", "double", "bytes"]);

/** The type of a schema by its text, for registries that return a text without its type. */
export function sniffSchemaType(text: string): SchemaType {
  let schema: unknown;
  try {
    schema = parseJson(Buffer.from(text, "utf8"));
  } catch {
    return "PROTOBUF"; // texts of the other types are JSON
  }
  if (!isObject(schema) || avroTypes.has(schema["type"])) {
    return "AVRO"; // a name of a type, or a union
  }
  return connectTypes.has(schema["type"]) && ("optional" in schema || "field" in schema || "fields" in schema) ? "KCONNECT" : "JSON";
}
