/** What the rows of a data set look like, in terms that JSON Schema, Avro and Protobuf share. */
export type Shape =
  | { readonly kind: "boolean" | "int32" | "int64" | "double" | "string" }
  | { readonly kind: "list"; readonly items: Shape }
  | { readonly kind: "record"; readonly name: string; readonly fields: readonly Field[] };

export type RecordShape = Extract<Shape, { readonly kind: "record" }>;

export interface Field {
  readonly name: string;
  readonly shape: Shape;
  /** Whether rows may have null here. */
  readonly nullable: boolean;
}

/** A record of fields that are never null. */
export function record(name: string, fields: Readonly<Record<string, Shape>>): RecordShape {
  return { kind: "record", name, fields: Object.entries(fields).map(([field, shape]) => ({ name: field, shape, nullable: false })) };
}

export const boolean: Shape = { kind: "boolean" };
export const int32: Shape = { kind: "int32" };
export const int64: Shape = { kind: "int64" };
export const double: Shape = { kind: "double" };
export const string: Shape = { kind: "string" };

export function list(items: Shape): Shape {
  return { kind: "list", items };
}

/** The shape as an Avro schema. A record is defined where it is first used. */
export function avroSchemaOf(shape: Shape): unknown {
  switch (shape.kind) {
    case "int32":
      return "int";
    case "int64":
      return "long";
    case "list":
      return { type: "array", items: avroSchemaOf(shape.items) };
    case "record":
      return {
        type: "record",
        name: shape.name,
        fields: shape.fields.map(({ name, shape: type, nullable }) => ({
          name,
          type: nullable ? ["null", avroSchemaOf(type)] : avroSchemaOf(type),
        })),
      };
    default:
      return shape.kind;
  }
}

/** The shape as a JSON Schema (draft 7). */
export function jsonSchemaOf(shape: Shape): Readonly<Record<string, unknown>> {
  switch (shape.kind) {
    case "int32":
      return { type: "integer", minimum: -2_147_483_648, maximum: 2_147_483_647 };
    case "int64":
      return { type: "integer" };
    case "double":
      return { type: "number" };
    case "list":
      return { type: "array", items: jsonSchemaOf(shape.items) };
    case "record":
      return {
        type: "object",
        properties: Object.fromEntries(shape.fields.map((field) => [field.name, nullableJsonSchema(field)])),
        required: shape.fields.map(({ name }) => name),
        additionalProperties: false,
      };
    default:
      return { type: shape.kind };
  }
}

function nullableJsonSchema({ shape, nullable }: Field): Readonly<Record<string, unknown>> {
  const schema = jsonSchemaOf(shape);
  return nullable ? { anyOf: [schema, { type: "null" }] } : schema;
}

/**
 * The shape as the text of a `.proto` file (proto3). A nullable field is `optional`. Protobuf has no list of lists, and no list
 * that may be null: such a shape, as one of user's own files may have, is null.
 */
export function protoFileOf(shape: RecordShape): string | null {
  const messages = messagesOf(shape);
  return messages === null ? null : `syntax = "proto3";\n\n${messages.join("\n")}`;
}

function messagesOf(shape: RecordShape): readonly string[] | null {
  const nested: string[] = [];
  const lines: string[] = [];
  for (const [index, { name, shape: type, nullable }] of shape.fields.entries()) {
    const item = type.kind === "list" ? type.items : type;
    if (item.kind === "list" || (nullable && type.kind === "list")) {
      return null;
    }
    if (item.kind === "record") {
      const inner = messagesOf(item);
      if (inner === null) {
        return null;
      }
      nested.push(...inner);
    }
    const label = type.kind === "list" ? "repeated " : nullable ? "optional " : "";
    lines.push(`  ${label}${protoType(item)} ${name} = ${index + 1};\n`);
  }
  return [...nested, `message ${shape.name} {\n${lines.join("")}}\n`];
}

function protoType(shape: Exclude<Shape, { readonly kind: "list" }>): string {
  switch (shape.kind) {
    case "record":
      return shape.name;
    case "boolean":
      return "bool";
    default:
      return shape.kind;
  }
}
