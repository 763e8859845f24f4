import { types as avscTypes, Type as AvscType } from "avsc";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isDecodeError } from "../../errors.ts";
import { resolveLimits, resolveValueOptions, type ValueOptions } from "../../options.ts";
import { named, sample } from "../avro/samples.contract.ts";
import { avroType, avscTypeOf, recordedAvro, twins } from "../avro/twins.contract.ts";
import { type PayloadReader, readEverything } from "../reader.ts";
import { avroJson } from "./encoding.ts";

function readerOf(schema: unknown, values: ValueOptions = {}): PayloadReader {
  const text = typeof schema === "string" && schema.startsWith("{") ? schema : JSON.stringify(schema);
  const options = { values: resolveValueOptions(values), limits: resolveLimits(), plan: readEverything, codeGeneration: true };
  return avroJson.parse({ id: 1, schemaType: "AVRO", schema: text }, options.limits).compile(null, options);
}

function readText(reader: PayloadReader, text: string): unknown {
  const bytes = Buffer.from(`[${text}]`);
  return reader.read(bytes, 1, bytes.length - 1);
}

/** avsc's JSON has no bigints, so longs go through it as marked text. */
const markedLong = avscTypes.LongType.__with({
  fromBuffer: (bytes: Buffer) => bytes.readBigInt64LE(),
  toBuffer: (value: bigint) => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(value);
    return bytes;
  },
  fromJSON: (json: unknown) => BigInt(String(json).replaceAll(/[^-\d]/g, "")), // removes the marks of `toJSON`
  toJSON: (value: bigint) => `@long ${value}@`,
  isValid: (value: unknown) => typeof value === "bigint",
  compare: (a: bigint, b: bigint) => (a < b ? -1 : a > b ? 1 : 0),
});

function holdsWhatJsonLoses(value: unknown): boolean {
  return typeof value === "number"
    ? !Number.isFinite(value) || Object.is(value, -0)
    : typeof value === "object" && value !== null && Object.values(value).some(holdsWhatJsonLoses);
}

function jsonOf(schema: unknown, binary: Buffer): string {
  const type = AvscType.forSchema(
    schema as never,
    {
      wrapUnions: "never",
      typeHook: (part: unknown) => (part === "long" || (part as { type?: unknown }).type === "long" ? markedLong : undefined),
    } as never,
  );
  return type.toString(type.fromBuffer(binary)).replaceAll(/"@long (-?\d+)@"/g, "$1");
}

describe("Avro's JSON encoding", () => {
  test("written by avsc is read like the binary encoding of the same value", () => {
    fc.assert(
      fc.property(sample, (drawn) => {
        const { schema, value } = named(drawn);
        const binary = avscTypeOf(schema).toBuffer(value);
        const text = jsonOf(schema, binary);
        fc.pre(!holdsWhatJsonLoses(value)); // avsc writes null for NaN and infinities, and 0 for -0
        const [reader] = twins(avroType({ type: "array", items: schema }), { values: { int64: "bigint" } });
        const [expected] = reader.read(Buffer.concat([Buffer.from([2]), binary, Buffer.from([0])]), 0, binary.length + 2) as [unknown];
        expect(readText(readerOf(schema, { int64: "bigint" }), text)).toEqual(expected);
      }),
      { numRuns: 300 },
    );
  });

  test("of recorded change events gives the same values as their binary encoding, with all semantics", () => {
    const { schemas, payloads } = recordedAvro("salesorderdetail");
    const readers = new Map(
      [...schemas]
        .filter(([, text]) => text.includes('"fields"') && text.includes('"record"'))
        .map(([id, text]) => [
          id,
          {
            json: readerOf(text),
            binary: twins(avroType(JSON.parse(text)))[0],
            schema: JSON.parse(text, (name, part) => (name === "logicalType" ? undefined : part)) as unknown,
          },
        ]),
    );
    for (const { schemaId, payload } of payloads.slice(0, 100)) {
      const { json, binary, schema } = readers.get(schemaId) ?? expect.fail(`no schema ${schemaId}`);
      expect(readText(json, jsonOf(schema, payload))).toEqual(binary.read(payload, 0, payload.length));
    }
  });

  test.each<[string, unknown, string, unknown]>([
    ["bytes are text of characters up to U+00FF", "bytes", '"\\u00ff\\u0000A"', Buffer.from([255, 0, 65])],
    ["an enum is its symbol", { type: "enum", name: "E", symbols: ["A", "B"] }, '"B"', "B"],
    [
      "a branch is named by its full name",
      ["null", { type: "fixed", name: "F", namespace: "n.s", size: 1 }],
      '{"n.s.F":"A"}',
      Buffer.from("A"),
    ],
    ["null has no name", ["null", "string"], "null", null],
    ["a long beyond 2^53 is exact", "long", "9007199254740993", 9007199254740993n],
    ["a double that JSON has no number for is text", "double", '"-Infinity"', Number.NEGATIVE_INFINITY],
    ["a decimal is its bytes", { type: "bytes", logicalType: "decimal", precision: 4, scale: 2 }, '"\\u0001\\u0000"', "2.56"],
    [
      "a map of Connect's is an array of pairs",
      {
        type: "array",
        items: {
          type: "record",
          name: "MapEntry",
          namespace: "io.confluent.connect.avro",
          fields: [
            { name: "key", type: "int" },
            { name: "value", type: "string" },
          ],
        },
      },
      '[{"key":1,"value":"a"}]',
      new Map([[1, "a"]]),
    ],
  ])("%s", (_name, schema, text, value) => {
    expect(readText(readerOf(schema), text)).toEqual(value);
  });

  const row = { type: "record", name: "R", fields: [{ name: "a", type: ["null", "int"] }] };

  test.each<[string, unknown, string]>([
    ["a union's value without its name", row, '{"a":1}'],
    ["a name that is no branch", row, '{"a":{"long":1}}'],
    ["two names", row, '{"a":{"int":1,"null":null}}'],
    ["null under a name", row, '{"a":{"null":null}}'],
    ["a missing field", row, "{}"],
    ["a field that the schema does not have", row, '{"a":null,"b":1}'],
    ["a name that every object inherits", row, '{"a":{"constructor":1}}'],
    ["an int of 33 bits", "int", "2147483648"],
    ["a long of 65 bits", "long", "9223372036854775808"],
    ["a fraction", "int", "1.5"],
    ["bytes above U+00FF", "bytes", '"\\u0100"'],
    ["half a character", "string", '"\\ud800"'],
    ["an unknown symbol", { type: "enum", name: "E", symbols: ["A"] }, '"B"'],
    ["bytes of the wrong size", { type: "fixed", name: "F", size: 2 }, '"A"'],
  ])("%s is a typed error", (_name, schema, text) => {
    expect(() => readText(readerOf(schema), text)).toThrow(/^\[value-invalid\]/);
  });

  const item = {
    type: "record",
    name: "I",
    fields: [
      { name: "id", type: "int" },
      { name: "note", type: ["null", "string"], default: null },
      { name: "tags", type: { type: "array", items: "string" }, default: ["new"] },
      {
        name: "in",
        type: {
          type: "record",
          name: "In",
          fields: [
            { name: "x", type: "int", default: 5 },
            { name: "y", type: ["long", "null"], default: 6 },
          ],
        },
        default: { y: 7 },
      },
    ],
  };

  test("a missing field has its default, also if it is missing in a default", () => {
    expect(readText(readerOf(item), '{"id":1}')).toEqual({ id: 1, note: null, tags: ["new"], in: { x: 5, y: 7 } });
    expect(readText(readerOf(item), '{"in":{},"tags":[],"id":2,"note":{"string":"n"}}')).toEqual({
      id: 2,
      note: "n",
      tags: [],
      in: { x: 5, y: 6 },
    });
    expect(() => readText(readerOf(item), '{"id":1,"more":1}')).toThrow(/^\[value-invalid\]/);
  });

  test("defaults cannot make a short message large", () => {
    const list = {
      type: "array",
      items: { type: "record", name: "L", fields: [{ name: "t", type: "string", default: "x".repeat(30_000) }] },
    };
    expect(readText(readerOf(list), "[{},{}]")).toHaveLength(2);
    expect(() => readText(readerOf(list), "[{},{},{}]")).toThrow(/^\[limit-exceeded\]/);
    const doubling = Array.from({ length: 40 }, (_, i) => i).reduceRight<object>(
      (inside, i) => ({
        type: "record",
        name: `D${i}`,
        fields: [
          { name: "a", type: inside, default: {} },
          { name: "b", type: (inside as { name: string }).name, default: {} },
        ],
      }),
      { type: "record", name: "D40", fields: [{ name: "x", type: "int", default: 1 }] },
    );
    expect(() => readText(readerOf(doubling), "{}")).toThrow(/^\[limit-exceeded\]/);
  });

  test.each<[string, unknown, (count: number) => string]>([
    ["longs", "long", (count) => `[${"1,".repeat(count)}1]`],
    ["decimals", { type: "bytes", logicalType: "decimal", precision: 4, scale: 2 }, (count) => `[${'"A",'.repeat(count)}"A"]`],
    ["dates", { type: "int", logicalType: "date" }, (count) => `[${"1,".repeat(count)}1]`],
  ])("a mebibyte of %s exceeds the limit before any is read, and fewer are read", (_name, items, list) => {
    const reader = readerOf({ type: "array", items });
    const max = Math.floor(1_048_576 / (list(2).length - list(1).length));
    expect(() => readText(reader, list(max))).toThrow(/^\[limit-exceeded\] expected JSON/);
    expect(readText(reader, list(40_000))).toHaveLength(40_001);
  });

  test("a default that fits its unions in very many ways is schema-invalid, at once", () => {
    const both = (name: string, last: string): object => ({
      type: "record",
      name,
      fields: [
        { name: "next", type: name === "A" ? ["null", "A", both("B", "string")] : ["null", "A", "B"] },
        { name: "last", type: last },
      ],
    });
    let value: object | null = null;
    for (let i = 0; i < 40; i++) {
      value = { next: value, last: i === 39 ? true : i % 2 === 0 ? 1 : "x" };
    }
    const schema = { type: "record", name: "R", fields: [{ name: "a", type: both("A", "int"), default: { next: value, last: 1 } }] };
    expect(() => readText(readerOf(schema), "{}")).toThrow(/^\[schema-invalid\]/);
  });

  test("a default that does not fit its type, or that contains itself, is schema-invalid", () => {
    const wrong = { type: "record", name: "R", fields: [{ name: "a", type: "int", default: "x" }] };
    expect(() => readText(readerOf(wrong), "{}")).toThrow(/^\[schema-invalid\].*field "a" does not fit/);
    const endless = { type: "record", name: "R", fields: [{ name: "a", type: ["R", "null"], default: {} }] };
    expect(() => readText(readerOf(endless), "{}")).toThrow(/^\[schema-invalid\].*contains itself/);
  });

  test("any bytes give a value or a DecodeError", () => {
    const reader = readerOf({
      type: "record",
      name: "R",
      fields: [
        { name: "next", type: ["null", "R"] },
        { name: "m", type: { type: "map", values: "double" } },
      ],
    });
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string(), fc.constant('{"next":{"R":'.repeat(500))), (text) => {
        try {
          readText(reader, text);
        } catch (error) {
          expect(isDecodeError(error)).toBe(true);
        }
      }),
    );
  });
});
