import { type ChangeFormat, confluentPrefix, idsFor, type NeededSchema, textBetween } from "../change-format.ts";
import type { ChangeSource } from "../change-stream.ts";
import { type ConnectSchema, connectEnvelopeSchema, connectKeySchema } from "../connect-schema.ts";
import { envelopeText, keyText } from "./payload-text.ts";

const nothing = Buffer.alloc(0);

/**
 * Confluent's JSON Schema converter with its defaults. No converter was recorded: the schema follows the converter's source. With
 * `decimal.format=BASE64`, which is the default, a decimal is text although its schema says number: a validator refuses such messages.
 */
export const confluentJsonSchema: ChangeFormat = {
  name: "confluent-json-schema",
  title: "Confluent JSON Schema",
  schemas: schemasOf,
  createEncoder(_source, ids, takeBytes = Buffer.allocUnsafe) {
    const found = idsFor("confluent-json-schema", ids);
    const [key, value] = [confluentPrefix(found.key), confluentPrefix(found.value)];
    return {
      key: (part) => textBetween(key, keyText(part), nothing, takeBytes),
      value: (envelope) => textBetween(value, envelopeText(envelope), nothing, takeBytes),
    };
  },
};

function schemasOf(source: ChangeSource): readonly NeededSchema[] {
  const schema = (part: "key" | "value", connect: ConnectSchema): NeededSchema => ({
    part,
    schemaType: "JSON",
    schema: JSON.stringify(jsonSchemaOf(connect)),
  });
  return [schema("key", connectKeySchema(source)), schema("value", connectEnvelopeSchema(source))];
}

type JsonSchema = Readonly<Record<string, unknown>>;

function jsonSchemaOf(schema: ConnectSchema, index?: number): JsonSchema {
  const place = index === undefined ? {} : { "connect.index": index };
  if (schema.optional) {
    return { oneOf: [{ type: "null" }, jsonSchemaOf({ ...schema, optional: false })], ...place };
  }
  const { type, name, version, parameters, default: fallback, fields } = schema;
  const properties = fields?.map((field, i): [string, JsonSchema] => [field.field ?? "", jsonSchemaOf(field, i)]);
  return {
    type: type === "struct" ? "object" : type === "string" ? "string" : type === "bytes" ? "number" : "integer",
    ...(name !== undefined && { title: name }),
    ...(version !== undefined && { "connect.version": version }),
    ...(type !== "struct" && type !== "string" && { "connect.type": type }),
    ...(parameters !== undefined && { "connect.parameters": parameters }),
    ...(fallback !== undefined && { default: type === "bytes" ? 0 : fallback }),
    ...(properties !== undefined && { properties: Object.fromEntries(properties) }),
    ...place,
  };
}
