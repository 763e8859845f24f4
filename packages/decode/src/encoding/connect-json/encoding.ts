import { DecodeError } from "../../errors.ts";
import { parseJson } from "../json/parse.ts";
import { JsonReader } from "../json/reader.ts";
import type { CompileOptions } from "../reader.ts";
import type { SchemaEncoding } from "../schema-encoding.ts";
import type { TextEncoding } from "../text-encoding.ts";
import type { Type } from "../type.ts";
import { isConnectMessage } from "./message.ts";
import { checkSchemaCost, parseConnectSchema } from "./schema.ts";

/** JSON that carries its Connect schema, as JsonConverter writes it. */
export const connectJson: TextEncoding = {
  name: "connect-json",
  holds: isConnectMessage,
  evidence: {
    won: () => "exactly the fields schema and payload, and a Connect schema",
    absent: "not exactly the fields schema and payload",
    misfit: "its payload does not fit its schema",
  },
};

/** Makes a reader of payloads with a Connect schema. An integer out of its type's range is an error. */
export function connectReader(type: Type, options: CompileOptions): JsonReader {
  return new JsonReader(connectJson.name, type, { ...options, isRanged: true });
}

/** The payload half of connect-json, whose schema half is in a registry (Apicurio's ExtJsonConverter). */
export const registeredConnectJson: SchemaEncoding = {
  name: connectJson.name,
  schemaType: "KCONNECT",
  nullIsTombstone: true,
  parse: ({ schema }, limits) => {
    if (schema.length > limits.maxSchemaChars) {
      throw new DecodeError(
        "limit-exceeded",
        `expected a Connect schema of at most ${limits.maxSchemaChars} characters (limits.maxSchemaChars), found ${schema.length}`,
      );
    }
    const bytes = Buffer.from(schema, "utf8");
    const text = parseJson(bytes, 0, bytes.length, { maxDepth: limits.maxDepth });
    checkSchemaCost(text, schema.length, limits);
    const type = parseConnectSchema(text, "the schema", limits.maxDepth);
    return { typeOf: () => type, compile: (_, options) => connectReader(type, options) };
  },
};
