import type { RegisteredSchema, SchemaSource } from "@cdckit/decode";
import type { Attack } from "./attacks.ts";

const mib = 2 ** 20;

/** A message that costs, by the text of its schema and its own bytes. */
interface Case {
  readonly name: string;
  readonly fields: string;
  readonly more?: string;
  readonly payload: Buffer;
}

/** The attacks that are known on Protobuf readers, framed as Confluent frames them. */
export function protobufAttacks(): readonly Attack[] {
  return cases().map(({ name, fields, more = "", payload }) => ({
    name: `Protobuf: ${name}`,
    value: Buffer.concat([greeting, payload]),
    greeting,
    schemas: sourceOf(`syntax = "proto3"; message M { ${fields} } ${more}`),
  }));
}

/** The frame of a message of no fields. */
const greeting: Buffer = Buffer.from([0, 0, 0, 0, 1, 0]);

function cases(): readonly Case[] {
  const empty = Buffer.alloc(0);
  const message = (count: number): string =>
    `message N { ${Array.from({ length: count }, (_, i) => `int32 f${i} = ${i + 1};`).join(" ")} }`;
  const distinct = (make: (i: number) => Buffer): Buffer => {
    const parts: Buffer[] = [];
    for (let length = 0, i = 0; length < mib; length += parts.at(-1)?.length ?? 1, i++) {
      parts.push(make(i));
    }
    return Buffer.concat(parts);
  };
  return [
    { name: "empty messages of one field", fields: "repeated N a = 1;", more: message(1), payload: fill(field(1, empty)) },
    { name: "empty messages of six fields", fields: "repeated N a = 1;", more: message(6), payload: fill(field(1, empty)) },
    { name: "empty messages of a thousand fields", fields: "repeated N a = 1;", more: message(1_000), payload: fill(field(1, empty)) },
    { name: "the last field of a thousand", fields: "repeated N a = 1;", more: message(1_000), payload: fill(field(1, field(1_000, 1))) },
    { name: "a thousand fields backwards", fields: "repeated N a = 1;", more: message(1_000), payload: fill(field(1, backwards(1_000))) },
    {
      name: "messages of two fields",
      fields: "repeated N a = 1;",
      more: message(2),
      payload: fill(field(1, Buffer.concat([field(1, 1), field(2, 1)]))),
    },
    { name: "messages whose fields are backwards", fields: "repeated N a = 1;", more: message(2), payload: fill(field(1, backwards(2))) },
    { name: "empty packed lists", fields: "repeated int32 a = 1;", payload: fill(field(1, empty)) },
    {
      name: "messages of empty lists",
      fields: "repeated N a = 1;",
      more: "message N { repeated int32 x = 1; }",
      payload: fill(field(1, empty)),
    },
    {
      name: "messages of empty maps",
      fields: "repeated N a = 1;",
      more: "message N { map<string, int32> x = 1; }",
      payload: fill(field(1, empty)),
    },
    { name: "a packed list of small integers", fields: "repeated int64 a = 1;", payload: field(1, Buffer.alloc(mib, 1)) },
    { name: "a packed list of bigints", fields: "repeated int64 a = 1;", payload: field(1, fill(varint(2n ** 62n))) },
    { name: "a packed list of booleans", fields: "repeated bool a = 1;", payload: field(1, Buffer.alloc(mib, 1)) },
    {
      name: "a packed list of enums",
      fields: "repeated E a = 1;",
      more: "enum E { X = 0; Y = 1; }",
      payload: field(1, Buffer.alloc(mib, 1)),
    },
    { name: "unpacked integers", fields: "repeated int32 a = 1;", payload: fill(field(1, 1)) },
    { name: "doubles", fields: "repeated double a = 1;", payload: field(1, Buffer.alloc(mib, 1)) },
    { name: "empty texts", fields: "repeated string a = 1;", payload: fill(field(1, empty)) },
    { name: "texts of one character", fields: "repeated string a = 1;", payload: fill(field(1, Buffer.from("x"))) },
    { name: "texts, each another", fields: "repeated string a = 1;", payload: distinct((i) => field(1, Buffer.from(i.toString(36)))) },
    { name: "a text of a MiB", fields: "string a = 1;", payload: field(1, Buffer.alloc(mib, "x")) },
    { name: "a text of a MiB that is not UTF-8", fields: "string a = 1;", payload: field(1, Buffer.alloc(mib, 0xff)) },
    { name: "empty byte strings", fields: "repeated bytes a = 1;", payload: fill(field(1, empty)) },
    { name: "byte strings of one byte", fields: "repeated bytes a = 1;", payload: fill(field(1, Buffer.from("x"))) },
    { name: "pairs of nothing", fields: "map<string, int32> a = 1;", payload: fill(field(1, empty)) },
    {
      name: "pairs, each of another key",
      fields: "map<string, int32> a = 1;",
      payload: distinct((i) => field(1, field(1, Buffer.from(i.toString(36))))),
    },
    { name: "pairs, each of another number", fields: "map<int32, int32> a = 1;", payload: distinct((i) => field(1, field(1, i))) },
    {
      name: "pairs, each of a far index",
      fields: "map<string, int32> a = 1;",
      payload: distinct((i) => field(1, field(1, Buffer.from(String(i * 65_537))))),
    },
    { name: "fields that nobody knows", fields: "int32 a = 1;", payload: fill(field(99, 1)) },
    {
      name: "one scalar over and over",
      fields: "int32 a = 1; string b = 2;",
      payload: fill(Buffer.concat([field(2, empty), field(1, 1)])),
    },
    {
      name: "one text over and over",
      fields: "string a = 1;",
      payload: distinct((i) => field(1, Buffer.from(`long enough not to be kept ${i}`))),
    },
    { name: "one message in parts", fields: "N a = 1;", more: message(3), payload: fill(field(1, field(1, 1))) },
    { name: "parts of parts", fields: "M m = 1; int32 a = 2;", payload: split(8) },
    {
      name: "a oneof that changes",
      fields: "oneof o { int32 a = 1; N b = 2; string c = 3; }",
      more: message(1),
      payload: fill(Buffer.concat([field(2, empty), field(1, 1), field(3, empty)])),
    },
    { name: "messages beyond the limit", fields: "M m = 1;", payload: nested(20_000) },
    { name: "unknown groups beyond the limit", fields: "int32 a = 1;", payload: fill(Buffer.from([0xa3, 0x06])) },
    { name: "unknown groups of nothing", fields: "int32 a = 1;", payload: fill(Buffer.from([0xa3, 0x06, 0xa4, 0x06])) },
    { name: "unknown groups in groups", fields: "int32 a = 1;", payload: grouped(60, fill(field(99, 1))) },
    { name: "values of JSON", fields: "google.protobuf.ListValue a = 1;", payload: field(1, fill(field(1, empty))) },
    { name: "structs of JSON", fields: "repeated google.protobuf.Struct a = 1;", payload: fill(field(1, empty)) },
    { name: "timestamps", fields: "repeated google.protobuf.Timestamp a = 1;", payload: fill(field(1, empty)) },
    { name: "decimals", fields: "repeated confluent.type.Decimal a = 1;", payload: fill(field(1, field(1, Buffer.from([1])))) },
    {
      name: "decimals, each of another scale",
      fields: "repeated confluent.type.Decimal a = 1;",
      payload: distinct((i) => field(1, Buffer.concat([field(1, Buffer.from([1])), field(3, i % 1_000)]))),
    },
    {
      name: "decimals of 416 bytes",
      fields: "repeated confluent.type.Decimal a = 1;",
      payload: fill(field(1, field(1, Buffer.alloc(416, 0x55)))),
    },
    {
      name: "Anys of Anys",
      fields: "repeated google.protobuf.Any a = 1;",
      payload: fill(field(1, Buffer.concat([field(1, Buffer.from("/M")), field(2, empty)]))),
    },
    { name: "wrappers", fields: "repeated google.protobuf.StringValue a = 1;", payload: fill(field(1, empty)) },
    {
      name: "a length beyond the bytes",
      fields: "repeated int32 a = 1;",
      payload: Buffer.concat([Buffer.from([0x0a]), varint(2n ** 62n)]),
    },
    { name: "a varint that never ends", fields: "int64 a = 1;", payload: Buffer.concat([Buffer.from([0x08]), Buffer.alloc(mib, 0x80)]) },
  ];
}

/** A MiB of one part after another. */
function fill(part: Buffer): Buffer {
  return Buffer.alloc(Math.floor(mib / part.length) * part.length, part);
}

function backwards(count: number): Buffer {
  return Buffer.concat(Array.from({ length: count }, (_, i) => field(count - i, 1)));
}

function split(depth: number): Buffer {
  return depth === 0 ? fill(field(2, 1)) : Buffer.concat([field(1, split(depth - 1)), field(1, field(2, 2))]);
}

function nested(depth: number): Buffer {
  let message: Buffer = Buffer.alloc(0);
  for (let i = 0; i < depth; i++) {
    message = field(1, message);
  }
  return message;
}

function grouped(depth: number, content: Buffer): Buffer {
  const open = Buffer.alloc(depth * 2, Buffer.from([0xa3, 0x06]));
  const close = Buffer.alloc(depth * 2, Buffer.from([0xa4, 0x06]));
  return Buffer.concat([open, content, close]);
}

function field(number: number, value: number | Buffer): Buffer {
  return typeof value === "number"
    ? Buffer.concat([varint(BigInt(number * 8)), varint(BigInt(value))])
    : Buffer.concat([varint(BigInt(number * 8 + 2)), varint(BigInt(value.length)), value]);
}

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 127n) {
    bytes.push(Number(rest & 127n) | 128);
    rest >>= 7n;
  }
  return Buffer.from([...bytes, Number(rest)]);
}

function sourceOf(schema: string): SchemaSource {
  const registered: RegisteredSchema = { id: 1, schemaType: "PROTOBUF", schema };
  return { peek: () => registered, load: () => Promise.resolve(registered) };
}
