import type { ResolvedLimits, ResolvedValueOptions } from "../../options.ts";
import { compileAny } from "../json/convert.ts";
import { isJsonObject, parseJson } from "../json/parse.ts";
import { checkJsonCost } from "../json/cost.ts";
import { convertContext } from "../json/reader.ts";
import { type ColumnHints, type CompileOptions, readEverything } from "../reader.ts";
import { connectReader } from "./encoding.ts";
import { checkSchemaCost, hasConnectType, isConnectSchema, parseConnectSchema } from "./schema.ts";

/**
 * Reads the JSON text of a record header as Connect's header converters write it: a value, or a value with its schema. With a schema, values are
 * converted by their semantics, and without one as in any JSON: by the options, and by the hints for the columns of an object. Throws a
 * `DecodeError` if the text is not JSON, or does not fit its schema, the hints or the limits.
 */
export function readHeaderJson(bytes: Uint8Array, values: ResolvedValueOptions, limits: ResolvedLimits, hints: ColumnHints): unknown {
  const { maxDepth } = limits;
  checkJsonCost(bytes, 0, bytes.length, limits);
  const value = parseJson(bytes, 0, bytes.length, { maxDepth });
  if (typeof value === "string") {
    return value; // most headers are text, and text needs no reader
  }
  const options: CompileOptions = { values, limits, plan: readEverything, codeGeneration: false };
  if (!isJsonObject(value) || !Object.hasOwn(value, "schema") || !Object.hasOwn(value, "payload")) {
    return withoutSchema(value, options, hints);
  }
  const { schema, payload } = value;
  if (!isConnectSchema(schema) || !hasConnectType(schema)) {
    return withoutSchema(payload, options, hints);
  }
  // Such headers are few, so their schemas are not cached.
  checkSchemaCost(schema, bytes.length, limits);
  const type = parseConnectSchema(schema, "the schema of a header", maxDepth);
  return connectReader(type, options).convert(payload);
}

function withoutSchema(value: unknown, options: CompileOptions, hints: ColumnHints): unknown {
  const context = convertContext(options, { maxDepth: options.limits.maxDepth });
  if (!isJsonObject(value)) {
    return compileAny(undefined, context)(value);
  }
  return Object.fromEntries(Object.entries(value).map(([name, column]) => [name, compileAny(hints.get(name), context)(column)]));
}
