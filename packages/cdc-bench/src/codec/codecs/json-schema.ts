import { Ajv } from "ajv";
import type { Codec } from "../codec.ts";
import { jsonSchemaOf, type Shape } from "../shape.ts";
import { jsonCodec } from "./json.ts";

/** JSON whose reader checks each value against its schema with ajv. The bytes are those of plain JSON. */
export function jsonSchemaCodec<T>(shape: Shape): Codec<T> {
  const validate = new Ajv({ strict: true }).compile(jsonSchemaOf(shape));
  const json = jsonCodec<T>();
  return {
    name: "json-schema (ajv)",
    serialize: json.serialize,
    deserialize(bytes) {
      const value = json.deserialize(bytes);
      if (!validate(value)) {
        throw new Error(
          `the JSON is not what its schema says: ${validate.errors?.[0]?.instancePath ?? ""} ${validate.errors?.[0]?.message ?? ""}`,
        );
      }
      return value;
    },
  };
}
