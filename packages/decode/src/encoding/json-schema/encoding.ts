import { JsonReader } from "../json/reader.ts";
import type { SchemaEncoding } from "../schema-encoding.ts";
import { parseJsonSchema } from "./schema.ts";

/** JSON whose schema is a JSON Schema in a registry: Confluent's serializers, Connect's JsonSchemaConverter. */
export const jsonSchema: SchemaEncoding = {
  name: "json-schema",
  schemaType: "JSON",
  parse: (schema, limits) => {
    const { type } = parseJsonSchema(schema, limits);
    return { typeOf: () => type, compile: (_, options) => new JsonReader("json-schema", type, options) };
  },
};
