/*
 * A Connect schema as JsonSchemaConverter writes it in JSON Schema, derived from the rules of Confluent's JsonSchemaData (its default
 * options): `connect.type`, `title`, `connect.parameters`, `connect.index` on the outside, null and the type in `oneOf` if it is optional.
 * Properties stand in another order than the struct's, as they do there: they come out of a hash map.
 */

interface ConnectSchema {
  readonly type: string;
  readonly optional?: boolean;
  readonly name?: string;
  readonly version?: number;
  readonly doc?: string;
  readonly parameters?: Readonly<Record<string, string>>;
  readonly items?: ConnectSchema;
  readonly keys?: ConnectSchema;
  readonly values?: ConnectSchema;
  readonly fields?: readonly (ConnectSchema & { readonly field: string })[];
}

type Node = Record<string, unknown>;

const scalars: Readonly<Record<string, Node>> = {
  int8: { type: "integer", "connect.type": "int8" },
  int16: { type: "integer", "connect.type": "int16" },
  int32: { type: "integer", "connect.type": "int32" },
  int64: { type: "integer", "connect.type": "int64" },
  float: { type: "number", "connect.type": "float32" },
  double: { type: "number", "connect.type": "float64" },
  boolean: { type: "boolean" },
  string: { type: "string" },
  bytes: { type: "string", "connect.type": "bytes" },
};

/** `index`: the index of a field in its struct. */
export function jsonSchemaOf(schema: ConnectSchema, index?: number): Node {
  const place = index === undefined ? {} : { "connect.index": index };
  const type = { ...typeOf(schema), ...annotationsOf(schema) };
  return schema.optional === true ? { oneOf: [{ type: "null" }, type], ...place } : { ...type, ...place };
}

function annotationsOf({ name, version, doc, parameters }: ConnectSchema): Node {
  return {
    ...(name === undefined ? {} : { title: name }),
    ...(version === undefined ? {} : { "connect.version": version }),
    ...(doc === undefined ? {} : { description: doc }),
    ...(parameters === undefined ? {} : { "connect.parameters": parameters }),
  };
}

function typeOf(schema: ConnectSchema): Node {
  const { type, items, keys, values, fields = [] } = schema;
  if (type === "struct") {
    const properties = fields.map((field, i) => [field.field, jsonSchemaOf(field, i)] as const);
    return { type: "object", properties: Object.fromEntries(properties.reverse()) };
  }
  if (type === "array" && items !== undefined) {
    return { type: "array", items: jsonSchemaOf(items) };
  }
  if (type === "map" && keys !== undefined && values !== undefined) {
    return isTextMap(schema)
      ? { type: "object", "connect.type": "map", additionalProperties: jsonSchemaOf(values) }
      : {
          type: "array",
          "connect.type": "map",
          items: { type: "object", properties: { value: jsonSchemaOf(values, 1), key: jsonSchemaOf(keys, 0) } },
        };
  }
  return scalars[type] as Node;
}

function isTextMap({ keys }: ConnectSchema): boolean {
  return keys?.type === "string" && keys.optional !== true;
}

/** The same value as JsonSchemaConverter writes it: as JsonConverter does, except maps whose keys are not texts. */
export function jsonSchemaValueOf(schema: ConnectSchema, value: unknown): unknown {
  if (value === null || value === undefined) {
    return value;
  }
  const { items, keys, values, fields } = schema;
  if (fields !== undefined) {
    const struct = value as Readonly<Record<string, unknown>>;
    return Object.fromEntries(fields.map((field) => [field.field, jsonSchemaValueOf(field, struct[field.field])]));
  }
  if (items !== undefined) {
    return (value as unknown[]).map((item) => jsonSchemaValueOf(items, item));
  }
  if (keys !== undefined && values !== undefined && !isTextMap(schema)) {
    const pairs: unknown[] = Array.isArray(value) ? value : Object.entries(value as object);
    return pairs.map((pair) => {
      const [key, item] = pair as [unknown, unknown];
      return { key: jsonSchemaValueOf(keys, key), value: jsonSchemaValueOf(values, item) };
    });
  }
  return value;
}
