import type { ResolvedLimits, ResolvedValueOptions } from "../../options.ts";
import { isJsonObject, NumberText, parseJson } from "../json/parse.ts";
import { readEverything } from "../reader.ts";
import { connectReader } from "./encoding.ts";
import { checkSchemaCost, hasConnectType, isConnectSchema, parseConnectSchema } from "./schema.ts";

/**
 * Reads the JSON text of a record header as Connect's header converters write it: a value, or a value with its schema. Integers are exact.
 * With a schema, values are converted by their semantics. Throws a `DecodeError` if the text is not JSON, or does not fit its schema.
 */
export function readHeaderJson(bytes: Uint8Array, values: ResolvedValueOptions, limits: ResolvedLimits): unknown {
  const { maxDepth } = limits;
  const value = parseJson(bytes, 0, bytes.length, { maxDepth });
  if (!isJsonObject(value) || !Object.hasOwn(value, "schema") || !Object.hasOwn(value, "payload")) {
    return withDoubles(value);
  }
  const { schema, payload } = value;
  if (!isConnectSchema(schema) || !hasConnectType(schema)) {
    return withDoubles(payload);
  }
  // Such headers are few, so their schemas are not cached.
  checkSchemaCost(schema, bytes.length, limits);
  const type = parseConnectSchema(schema, "the schema of a header", maxDepth);
  return connectReader(type, { values, limits, plan: readEverything, codeGeneration: false }).convert(payload);
}

function withDoubles(value: unknown): unknown {
  if (value instanceof NumberText) {
    return Number(value.text);
  }
  if (Array.isArray(value)) {
    return value.map(withDoubles);
  }
  return typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).map(([name, item]) => [name, withDoubles(item)]))
    : value;
}
