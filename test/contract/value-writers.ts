/**
 * Rows written as converters write them, one writer an encoding, by JSON.stringify, avsc and Protobuf's wire rules: nothing here knows our
 * decoder.
 */
import type { KafkaRecord, RegisteredSchema } from "@cdckit/decode";
import { recordOf } from "@cdckit/testkit";
import avsc from "avsc";

/** A column's type in Connect's words. */
export type ConnectType = { readonly name?: string; readonly parameters?: Readonly<Record<string, string>> } & (
  | { readonly type: "boolean" | "int8" | "int16" | "int32" | "int64" | "float" | "double" | "string" | "bytes" }
  | { readonly type: "array"; readonly items: ConnectType }
  | { readonly type: "map"; readonly keys: ConnectType; readonly values: ConnectType }
  | { readonly type: "struct"; readonly fields: readonly (ConnectType & { readonly field: string })[] }
);

/** A raw value: integers as bigints, bytes as Buffers, structs as objects, maps as Maps. */
export type Raw =
  | null
  | boolean
  | bigint
  | number
  | string
  | Buffer
  | readonly Raw[]
  | ReadonlyMap<Raw, Raw>
  | { readonly [field: string]: Raw };

export interface Written {
  readonly record: KafkaRecord;
  readonly schema: RegisteredSchema | null;
  /** Whether the encoding lost what columns mean, so that a hint must say it. */
  readonly needsHint: boolean;
}

const topic = "s.public.t";

/** A Debezium update of one row whose column `c` holds the value. */
export const writers: Readonly<
  Record<"connect-json" | "avro" | "json-schema" | "json" | "protobuf", (type: ConnectType, raw: Raw) => Written>
> = {
  "connect-json": (type, raw) => {
    const schema = jsonText({ type: "struct", fields: envelopeFields(type), optional: false, name: "s.public.t.Envelope" });
    return {
      record: recordOf(`{"schema":${schema},"payload":${envelopeText(type, raw, "pairs")}}`, { topic }),
      schema: null,
      needsHint: false,
    };
  },
  json: (type, raw) => ({ record: recordOf(envelopeText(type, raw, "pairs"), { topic }), schema: null, needsHint: true }),
  "json-schema": (type, raw) =>
    framed("JSON", jsonText(jsonSchemaOf(envelopeType(type))), Buffer.from(envelopeText(type, raw, "objects")), false),
  avro: (type, raw) => {
    const schema = avroOf(envelopeType(type), "Envelope");
    return avroWritten(schema, avroValue(envelopeType(type), envelopeOf(raw)));
  },
  protobuf: (type, raw) => {
    const messages: string[] = [];
    protoType(envelopeType(type), "Envelope", messages);
    const text = `syntax = "proto3";\n${messages.reverse().join("\n")}`;
    return framed("PROTOBUF", text, Buffer.concat([Buffer.from([0]), protoMessage(envelopeType(type), envelopeOf(raw))]), true);
  },
};

/** The value in Confluent's framing, written by avsc. */
export function avroWritten(schema: unknown, value: unknown): Written {
  const long = bigintLong();
  const bytes = avsc.Type.forSchema(schema as avsc.Schema, {
    typeHook: (node) => ((typeof node === "string" ? node : (node as { type?: unknown }).type) === "long" ? long : undefined),
    wrapUnions: "never" as unknown as boolean, // its types lack what it documents
  }).toBuffer(value);
  return framed("AVRO", jsonText(schema), bytes, false);
}

function framed(schemaType: "AVRO" | "JSON" | "PROTOBUF", schema: string, payload: Buffer, needsHint: boolean): Written {
  return {
    record: recordOf(Buffer.concat([Buffer.from([0, 0, 0, 0, 7]), payload]), { topic }),
    schema: { id: 7, schemaType, schema },
    needsHint,
  };
}

function envelopeFields(column: ConnectType): readonly (ConnectType & { field: string; optional: boolean })[] {
  const row = {
    type: "struct",
    fields: [
      { type: "int32", field: "id" },
      { ...column, field: "c", optional: true },
    ],
  } as const;
  const source = {
    type: "struct",
    fields: [
      { type: "string", field: "connector" },
      { type: "string", field: "table" },
    ],
  } as const;
  return [
    { ...row, name: "s.public.t.Value", field: "after", optional: true },
    { ...source, field: "source", optional: false },
    { type: "string", field: "op", optional: false },
  ];
}

function envelopeType(column: ConnectType): ConnectType {
  return { type: "struct", name: "s.public.t.Envelope", fields: envelopeFields(column) };
}

function envelopeOf(raw: Raw): { readonly [field: string]: Raw } {
  return { after: { id: 1n, c: raw }, source: { connector: "postgresql", table: "t" }, op: "u" };
}

/** Connect writes maps whose keys are no strings as pairs; its JSON Schema converter as objects of a key and a value. */
type MapStyle = "pairs" | "objects";

function envelopeText(column: ConnectType, raw: Raw, style: MapStyle): string {
  return valueText(envelopeType(column), envelopeOf(raw), style);
}

function valueText(type: ConnectType, raw: Raw, style: MapStyle): string {
  if (raw === null) {
    return "null";
  }
  switch (type.type) {
    case "bytes":
      return JSON.stringify((raw as Buffer).toString("base64"));
    case "array":
      return `[${(raw as readonly Raw[]).map((item) => valueText(type.items, item, style)).join()}]`;
    case "map": {
      const entries = [...(raw as ReadonlyMap<Raw, Raw>)].map(([key, value]) => [
        valueText(type.keys, key, style),
        valueText(type.values, value, style),
      ]);
      if (type.keys.type === "string") {
        return `{${entries.map(([key, value]) => `${key}:${value}`).join()}}`;
      }
      return `[${entries.map(([key, value]) => (style === "pairs" ? `[${key},${value}]` : `{"key":${key},"value":${value}}`)).join()}]`;
    }
    case "struct": {
      const struct = raw as { readonly [field: string]: Raw };
      return `{${type.fields.map((field) => `${JSON.stringify(field.field)}:${valueText(field, struct[field.field] ?? null, style)}`).join()}}`;
    }
    case "float":
    case "double":
      return Number.isFinite(raw) ? String(raw) : JSON.stringify(String(raw)); // Jackson writes NaN as text
    default:
      return typeof raw === "bigint" ? String(raw) : JSON.stringify(raw);
  }
}

function jsonText(value: unknown): string {
  return JSON.stringify(value);
}

function annotations(type: ConnectType): Record<string, unknown> {
  const declared = type.parameters === undefined ? {} : { "connect.parameters": type.parameters };
  return type.name === undefined ? declared : { title: type.name, ...declared };
}

function jsonSchemaOf(type: ConnectType): Record<string, unknown> {
  const marks = annotations(type);
  switch (type.type) {
    case "boolean":
    case "string":
      return { type: type.type, ...marks };
    case "bytes":
      return { type: "string", "connect.type": "bytes", ...marks };
    case "float":
    case "double":
      return { type: "number", "connect.type": type.type === "float" ? "float32" : "float64", ...marks };
    case "array":
      return { type: "array", items: optionalSchema(type.items, 0), ...marks };
    case "map":
      return type.keys.type === "string"
        ? { type: "object", "connect.type": "map", additionalProperties: optionalSchema(type.values, 0), ...marks }
        : {
            type: "array",
            "connect.type": "map",
            items: { type: "object", properties: { key: jsonSchemaOf(type.keys), value: jsonSchemaOf(type.values) } },
            ...marks,
          };
    case "struct":
      return {
        type: "object",
        properties: Object.fromEntries(type.fields.map((field, i) => [field.field, optionalSchema(field, i)])),
        ...marks,
      };
    default:
      return { type: "integer", "connect.type": type.type, ...marks };
  }
}

function optionalSchema(type: ConnectType, index: number): Record<string, unknown> {
  return { oneOf: [{ type: "null" }, jsonSchemaOf(type)], "connect.index": index };
}

const avroKinds = {
  boolean: "boolean",
  int8: "int",
  int16: "int",
  int32: "int",
  int64: "long",
  float: "float",
  double: "double",
  string: "string",
  bytes: "bytes",
} as const;

/** Every struct gets a name of its own: `path` says where it stands. */
function avroOf(type: ConnectType, path: string): unknown {
  const marks = type.name === undefined ? {} : { "connect.name": type.name, "connect.parameters": type.parameters ?? {} };
  switch (type.type) {
    case "array":
      return { type: "array", items: ["null", avroOf(type.items, `${path}_item`)], ...marks };
    case "map":
      return type.keys.type === "string"
        ? { type: "map", values: ["null", avroOf(type.values, `${path}_value`)], ...marks }
        : {
            type: "array",
            items: {
              type: "record",
              name: `${path}_MapEntry`,
              "connect.internal.type": "MapEntry",
              fields: [
                { name: "key", type: avroOf(type.keys, `${path}_key`) },
                { name: "value", type: avroOf(type.values, `${path}_value`) },
              ],
            },
            ...marks,
          };
    case "struct":
      return {
        type: "record",
        name: path,
        fields: type.fields.map((field) => ({ name: field.field, type: ["null", avroOf(field, `${path}_${field.field}`)] })),
        ...marks,
      };
    default:
      return type.name === undefined ? avroKinds[type.type] : { type: avroKinds[type.type], ...marks };
  }
}

function avroValue(type: ConnectType, raw: Raw): unknown {
  if (raw === null) {
    return null;
  }
  switch (type.type) {
    case "array":
      return (raw as readonly Raw[]).map((item) => avroValue(type.items, item));
    case "map": {
      const entries = [...(raw as ReadonlyMap<Raw, Raw>)].map(
        ([key, value]) => [avroValue(type.keys, key), avroValue(type.values, value)] as const,
      );
      return type.keys.type === "string"
        ? Object.fromEntries(entries as [string, unknown][])
        : entries.map(([key, value]) => ({ key, value }));
    }
    case "struct": {
      const struct = raw as { readonly [field: string]: Raw };
      return Object.fromEntries(type.fields.map((field) => [field.field, avroValue(field, struct[field.field] ?? null)]));
    }
    case "int8":
    case "int16":
    case "int32":
      return Number(raw);
    default:
      return raw;
  }
}

/** avsc's own long cannot hold 64 bits. */
function bigintLong(): avsc.Type {
  return avsc.types.LongType.__with({
    fromBuffer: (buffer: Buffer) => buffer.readBigInt64LE(),
    toBuffer: (value: bigint) => {
      const buffer = Buffer.alloc(8);
      buffer.writeBigInt64LE(value);
      return buffer;
    },
    fromJSON: BigInt,
    toJSON: String,
    isValid: (value: unknown) => typeof value === "bigint",
    compare: (one: bigint, other: bigint) => (one < other ? -1 : one > other ? 1 : 0),
  });
}

const protoKinds = {
  boolean: "bool",
  int8: "int32",
  int16: "int32",
  int32: "int32",
  int64: "int64",
  float: "float",
  double: "double",
  string: "string",
  bytes: "bytes",
} as const;

/** The type's name in a `.proto` file; what it consists of is put in front of it. */
function protoType(type: ConnectType, path: string, messages: string[]): string {
  switch (type.type) {
    case "array":
      return `repeated ${protoType(type.items, `${path}Item`, messages)}`;
    case "map":
      return `map<${protoType(type.keys, path, messages)}, ${protoType(type.values, `${path}Value`, messages)}>`;
    case "struct": {
      const fields = type.fields.map((field, i) => {
        const kind = protoType(field, `${path}_${field.field}`, messages);
        const label = field.type === "array" || field.type === "map" || field.type === "struct" ? "" : "optional ";
        return `  ${label}${kind} ${field.field} = ${i + 1};`;
      });
      messages.push(`message ${path} {\n${fields.join("\n")}\n}`);
      return path;
    }
    default:
      return protoKinds[type.type];
  }
}

function protoMessage(type: Extract<ConnectType, { type: "struct" }> | ConnectType, raw: { readonly [field: string]: Raw }): Buffer {
  const fields = type.type === "struct" ? type.fields : [];
  return Buffer.concat(fields.map((field, i) => protoField(i + 1, field, raw[field.field] ?? null)));
}

function protoField(number: number, type: ConnectType, raw: Raw): Buffer {
  if (raw === null) {
    return Buffer.alloc(0);
  }
  switch (type.type) {
    case "array":
      return Buffer.concat((raw as readonly Raw[]).map((item) => protoField(number, type.items, item)));
    case "map":
      return Buffer.concat(
        [...(raw as ReadonlyMap<Raw, Raw>)].map(([key, value]) =>
          sized(number, Buffer.concat([protoField(1, type.keys, key), protoField(2, type.values, value)])),
        ),
      );
    case "struct":
      return sized(number, protoMessage(type, raw as { readonly [field: string]: Raw }));
    case "string":
      return sized(number, Buffer.from(raw as string));
    case "bytes":
      return sized(number, raw as Buffer);
    case "float": {
      const bytes = Buffer.alloc(4);
      bytes.writeFloatLE(raw as number);
      return Buffer.concat([tag(number, 5), bytes]);
    }
    case "double": {
      const bytes = Buffer.alloc(8);
      bytes.writeDoubleLE(raw as number);
      return Buffer.concat([tag(number, 1), bytes]);
    }
    default:
      return Buffer.concat([tag(number, 0), varint(BigInt.asUintN(64, BigInt(raw as bigint | boolean)))]);
  }
}

function sized(number: number, bytes: Buffer): Buffer {
  return Buffer.concat([tag(number, 2), varint(BigInt(bytes.length)), bytes]);
}

function tag(number: number, wire: number): Buffer {
  return varint(BigInt(number * 8 + wire));
}

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128n; rest >>= 7n) {
    bytes.push(Number(rest & 127n) | 128);
  }
  return Buffer.from([...bytes, Number(rest)]);
}
