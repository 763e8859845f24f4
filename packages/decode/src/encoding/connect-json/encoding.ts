import { DecodeError } from "../../errors.ts";
import { parseJson } from "../json/parse.ts";
import { JsonReader } from "../json/reader.ts";
import type { SchemaEncoding } from "../schema-encoding.ts";
import { checkSchemaCost, parseConnectSchema } from "./schema.ts";

/** The payload half of connect-json alone, whose schema half is in a registry (Apicurio's ExtJsonConverter). */
export const registeredConnectJson: SchemaEncoding = {
  name: "connect-json",
  schemaType: "KCONNECT",
  parse: ({ schema }, limits) => {
    if (schema.length > limits.maxSchemaChars) {
      throw new DecodeError(
        "limit-exceeded",
        `expected a Connect schema of at most ${limits.maxSchemaChars} characters (limits.maxSchemaChars), found ${schema.length}`,
      );
    }
    const bytes = Buffer.from(schema, "utf8");
    const text = parseJson(bytes, 0, bytes.length, { maxDepth: limits.maxDepth, texts: null });
    checkSchemaCost(text, schema.length, limits);
    const type = parseConnectSchema(text, "the schema", limits.maxDepth);
    return { typeOf: () => type, compile: (_, options) => new JsonReader("connect-json", type, options) };
  },
};
