import { DecodeError } from "../../errors.ts";
import type { ResolvedLimits } from "../../options.ts";
import type { Semantic } from "../../values/conversion.ts";
import { tidbSemantic } from "../../values/tidb-column.ts";
import { defaultValueOf } from "../default-value.ts";
import { isJsonObject, NumberText } from "../json/parse.ts";
import { type Field, fieldOf, type PrimitiveKind, type Type } from "../type.ts";

/*
 * A Connect schema as JsonConverter writes it (org.apache.kafka.connect.json.JsonSchema):
 *
 *   schema = { "type": primitive | "array" | "map" | "struct", "optional"?, "name"?, "version"?, "doc"?, "parameters"?, "default"?,
 *              "items"? (array), "keys"? and "values"? (map), "fields"? (struct) }
 *   fields = [ schema with "field": its name ]
 */

const primitives: Readonly<Record<string, PrimitiveKind>> = {
  boolean: "boolean",
  int8: "int",
  int16: "int",
  int32: "int",
  int64: "long",
  float: "float",
  double: "double",
  float32: "float", // the names in CockroachDB changefeeds
  float64: "double",
  string: "string",
  bytes: "bytes",
};

/** Whether a parsed value can be a Connect schema: one of JsonConverter, and not a user's column of that name. */
export function isConnectSchema(value: unknown): value is Record<string, unknown> {
  return isJsonObject(value) && typeof value["type"] === "string";
}

/**
 * Whether the type is one of Connect's. For an array, its items must have such a type too. JSON Schema and Avro have other types, and a
 * column `schema` may hold either.
 */
export function hasConnectType({ type, items }: Record<string, unknown>): boolean {
  if (type === "array") {
    return isConnectSchema(items) && (items["type"] === "json" || hasConnectType(items));
  }
  return typeof type === "string" && (Object.hasOwn(primitives, type) || type === "map" || type === "struct");
}

/** The cost of a part of a schema in about nanoseconds: a type, its reader, a column's name. */
const partCost = 4_000;
const minChars = 1_048_576;
/**
 * A schema inside of another message is first parsed as a part of that message and then written as text again. It may have this share of
 * the parts.
 */
const insideShare = 0.8;

/**
 * Refuses a schema with more parts than its length allows (`limits.maxCostPerByte`), before types are made of them. The widest table that
 * MySQL allows has about 8,300 parts, before and after together.
 */
export function checkSchemaCost(
  schema: unknown,
  chars: number,
  limits: Pick<ResolvedLimits, "maxCostPerByte">,
  isInside: boolean = false,
): void {
  const allowed = Math.floor((limits.maxCostPerByte * Math.max(chars, minChars)) / partCost);
  const max = isInside ? Math.floor(allowed * insideShare) : allowed;
  const found = countParts(schema);
  if (found > max) {
    throw new DecodeError(
      "limit-exceeded",
      `expected a Connect schema of at most ${max} fields for its length (limits.maxCostPerByte), found ${found}; raise the limit if the table has that many`,
    );
  }
}

/** Counts the parts of a schema. It may recurse, because the parser limits the depth. */
function countParts(schema: unknown): number {
  if (!isJsonObject(schema)) {
    return 0;
  }
  const { fields, items, keys, values } = schema;
  const inside = [items, keys, values].reduce<number>((sum, part) => (part === undefined ? sum : sum + countParts(part)), 1);
  return Array.isArray(fields) ? fields.reduce<number>((sum, field) => sum + countParts(field), inside) : inside;
}

/** The type that a Connect schema declares. Throws a `DecodeError` with the code `schema-invalid` if it declares none. */
export function parseConnectSchema(schema: unknown, where: string, depth: number): Type {
  if (!isConnectSchema(schema)) {
    throw new DecodeError("schema-invalid", `expected a Connect schema with a "type" at ${where}, found none`);
  }
  if (depth <= 0) {
    throw new DecodeError(
      "limit-exceeded",
      "expected a Connect schema nested at most limits.maxDepth deep, found it nested deeper; raise the limit if the schema is valid",
    );
  }
  const type = parseRequired(schema, where, depth);
  return schema["optional"] === true ? { kind: "union", branches: [{ kind: "null" }, type] } : type;
}

function parseRequired(schema: Record<string, unknown>, where: string, depth: number): Type {
  const kind = schema["type"] as string;
  const semantic = semanticOf(schema);
  const meaning = semantic === undefined ? {} : { semantic };
  switch (kind) {
    case "array":
      return { kind: "array", items: parseConnectSchema(schema["items"], `the items of ${where}`, depth - 1), ...meaning };
    case "map":
      return parseMap(schema, where, depth);
    case "json":
      return { kind: "any", ...meaning }; // CockroachDB's type of a JSON document, which is embedded unchanged
    case "struct":
      return { kind: "record", name: semantic?.name ?? null, fields: parseFields(schema["fields"], where, depth), ...meaning };
    default: {
      const primitive = Object.hasOwn(primitives, kind) ? primitives[kind] : undefined;
      if (primitive === undefined) {
        throw new DecodeError(
          "schema-invalid",
          `expected a Connect type (boolean, int8 to int64, float, double, string, bytes, array, map, struct) at ${where}, found another`,
        );
      }
      return semantic?.name === "decimal" && kind === "float64"
        ? { kind: "bytes", semantic: { ...semantic, name: "org.apache.kafka.connect.data.Decimal" } } // CockroachDB's decimal: the text of the number is exact
        : { kind: primitive, ...bitsOf(kind), ...meaning };
    }
  }
}

function bitsOf(kind: string): { readonly bits?: 8 | 16 } {
  return kind === "int8" ? { bits: 8 } : kind === "int16" ? { bits: 16 } : {};
}

function parseMap(schema: Record<string, unknown>, where: string, depth: number): Type {
  const keys = parseConnectSchema(schema["keys"], `the keys of ${where}`, depth - 1);
  const values = parseConnectSchema(schema["values"], `the values of ${where}`, depth - 1);
  return { kind: "map", keys: keys.kind === "string" ? null : keys, values };
}

function parseFields(fields: unknown, where: string, depth: number): Field[] {
  if (!Array.isArray(fields)) {
    throw new DecodeError("schema-invalid", `expected a list of fields in the struct at ${where}, found none`);
  }
  const names = new Set<string>();
  return fields.map((field: unknown): Field => {
    const name = isJsonObject(field) ? field["field"] : undefined;
    if (typeof name !== "string" || names.has(name)) {
      throw new DecodeError(
        "schema-invalid",
        `expected each field of the struct at ${where} to have a name of its own, found a field without a name or a repeated name`,
      );
    }
    names.add(name);
    const type = parseConnectSchema(field, `${where}.${name}`, depth - 1);
    return isJsonObject(field)
      ? fieldOf(name, type, field["parameters"], defaultValueOf(type, plainNumber(field["default"]), "base64"))
      : { name, type };
  });
}

/** A fraction as a number: the parser of messages keeps its text. */
function plainNumber(json: unknown): unknown {
  return json instanceof NumberText ? Number(json.text) : json;
}

function semanticOf(schema: Record<string, unknown>): Semantic | undefined {
  const name = schema["name"];
  if (typeof name !== "string") {
    return tidbSemantic(schema["tidb_type"], {}) ?? undefined;
  }
  const parameters: Record<string, string> = Object.create(null);
  const declared = schema["parameters"];
  if (isJsonObject(declared)) {
    for (const [parameter, value] of Object.entries(declared)) {
      // Connect's parameters are texts. A parameter that is not a scalar is ignored.
      if (typeof value === "string" || typeof value === "number") {
        parameters[parameter] = String(value);
      }
    }
  }
  return { name, parameters };
}
