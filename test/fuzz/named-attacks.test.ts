import { type CdcEvent, createDecoder, isDecodeError, type RegisteredSchema } from "@cdckit/decode";
import { afterEach, describe, expect, test } from "vitest";
import { record, sourceOf } from "./vector-seeds.ts";

/** Code that would be seen to have run, in whatever kind of quotes it ended up. */
const names = [
  "a'+(globalThis.ran=1)+'",
  'a"+(globalThis.ran=1)+"',
  "a`+(globalThis.ran=1)+`",
  "a${globalThis.ran=1}",
  "a];globalThis.ran=1;//",
  "a\\",
  "a\n*/globalThis.ran=1/*",
  "\u2028globalThis.ran=1//",
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
];

describe("Protobuf descriptors, whose names are no identifiers", () => {
  afterEach(() => Reflect.deleteProperty(globalThis, "ran"));

  test.each(names)("a field, a type, a package and a default called %j run nowhere", (name) => {
    const descriptor = fileOf(name);
    const outcomes = [field(1, 5), field(2, field(1, 7)), field(3, "text"), Buffer.alloc(0)].map((payload) => outcome(descriptor, payload));
    expect(outcomes.every((one) => typeof one === "string" || Object.hasOwn(one, name) || one instanceof Map)).toBe(true);
    expect(Reflect.get(globalThis, "ran")).toBeUndefined();
    expect(Object.getPrototypeOf({})).toBe(Object.prototype);
  });
});

describe("schemas that refer to each other in a circle", () => {
  test("Protobuf files that import each other end in a DecodeError, or in a reader", () => {
    const proto = (own: string, other: string): string =>
      `syntax = "proto3"; import "${other}.proto"; message ${own} { int64 id = 1; ${other} other = 2; }`;
    const references = [
      { name: "B.proto", schema: proto("B", "A") },
      { name: "A.proto", schema: proto("A", "B") },
    ];
    const schema: RegisteredSchema = { id: 1, schemaType: "PROTOBUF", schema: proto("A", "B"), references };
    expect(["row", "schema-invalid"]).toContain(kindOf(schema, field(1, 1)));
  });

  test("Avro schemas that reference each other by name end in a DecodeError, or in a reader", () => {
    const avro = (own: string, other: string): string =>
      JSON.stringify({ type: "record", name: own, fields: [{ name: "other", type: ["null", other] }] });
    const references = [
      { name: "B", schema: avro("B", "A") },
      { name: "A", schema: avro("A", "B") },
    ];
    const schema: RegisteredSchema = { id: 1, schemaType: "AVRO", schema: avro("A", "B"), references };
    expect(["row", "schema-invalid"]).toContain(kindOf(schema, Buffer.from([0])));
  });
});

describe("JSON's numbers at their ends", () => {
  test.each(["1e400", "-1e400", "1e999999999", `${"9".repeat(400)}.5`])("%s is no Infinity", (number) => {
    const decode = (): unknown => createDecoder().decode(record("t", 0, Buffer.from(`{"a":${number}}`)));
    expect(decode).toThrow(/\[value-invalid\]/);
  });

  test("1e-400 is zero, as IEEE has it, and -0 keeps its sign", () => {
    const [event] = createDecoder().decode(record("t", 0, Buffer.from('{"a":1e-400,"b":-0.0}'))) as readonly CdcEvent[];
    expect(event).toMatchObject({ kind: "row", row: { a: 0, b: -0 } });
  });
});

function outcome(schema: string, payload: Buffer): string | object {
  try {
    const [event] = decoderOf({ id: 1, schemaType: "PROTOBUF", schema }).decode(framed(payload)) as readonly CdcEvent[];
    return event?.kind === "row" ? event.row : "no row";
  } catch (error) {
    if (!isDecodeError(error)) {
      throw error;
    }
    return error.code;
  }
}

function kindOf(schema: RegisteredSchema, payload: Buffer): string | undefined {
  try {
    const framing =
      schema.schemaType === "PROTOBUF" ? framed(payload) : record("t", 0, Buffer.concat([Buffer.from([0, 0, 0, 0, 1]), payload]));
    const [event] = decoderOf(schema).decode(framing) as readonly CdcEvent[];
    return event?.kind;
  } catch (error) {
    if (!isDecodeError(error)) {
      throw error;
    }
    return error.code;
  }
}

function decoderOf(schema: RegisteredSchema): ReturnType<typeof createDecoder> {
  return createDecoder({ schemas: sourceOf(() => schema) });
}

function framed(payload: Buffer): ReturnType<typeof record> {
  return record("t", 0, Buffer.concat([Buffer.from([0, 0, 0, 0, 1, 0]), payload]));
}

/** A FileDescriptorProto in base64, as registries hand it out: a message of an integer, a message and a text, all called alike. */
function fileOf(name: string): string {
  const [int64, text, message] = [3, 9, 11];
  const fieldOf = (number: number, type: number, ...more: readonly Buffer[]): Buffer =>
    Buffer.concat([field(1, number === 1 ? name : `${name}${number}`), field(3, number), field(4, 1), field(5, type), ...more]);
  const type = `.${name}.${name}`;
  const own = Buffer.concat([
    field(1, name),
    field(2, fieldOf(1, int64)),
    field(2, fieldOf(2, message, field(6, type))),
    field(2, fieldOf(3, text, field(7, name), field(10, name))),
  ]);
  return Buffer.concat([field(1, "a.proto"), field(2, name), field(4, own), field(12, "proto2")]).toString("base64");
}

function field(number: number, value: number | string | Buffer): Buffer {
  if (typeof value === "number") {
    return Buffer.from([number * 8, value]);
  }
  const bytes = Buffer.from(value);
  const length = bytes.length < 128 ? [bytes.length] : [(bytes.length & 127) | 128, bytes.length >> 7];
  return Buffer.concat([Buffer.from([number * 8 + 2, ...length]), bytes]);
}
