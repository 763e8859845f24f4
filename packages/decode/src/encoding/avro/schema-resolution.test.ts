import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { resolveLimits, resolveValueOptions } from "../../options.ts";
import { Deferred, type PayloadReader, type ReadPlan, readEverything } from "../reader.ts";
import { compileAvroReader } from "./reader.ts";
import { named, type Sample, sample } from "./samples.contract.ts";
import { parseAvroSchema } from "./schema.ts";
import { avroType, avscTypeOf, long, type Outcome, plain, readBoth, text } from "./twins.contract.ts";

function project(writer: unknown, reader: unknown, payload: Buffer, plan: ReadPlan = readEverything): Outcome {
  return readBoth([compile(writer, reader, plan, true), compile(writer, reader, plan, false)], payload);
}

function compile(writer: unknown, reader: unknown, plan: ReadPlan, codeGeneration: boolean): PayloadReader {
  const options = { values: resolveValueOptions(), limits: resolveLimits(), plan, codeGeneration };
  return compileAvroReader(avroType(writer), options, avroType(reader));
}

const record = (...fields: unknown[]): unknown => ({ type: "record", name: "R", fields });
const outer = (type: unknown): unknown => ({ type: "record", name: "Outer", fields: [{ name: "w", type }] });
const field = (name: string, type: unknown, more: object = {}): object => ({ name, type, ...more });

/** What a reader schema may declare for a field of the writer's. */
type Change = "keep" | "drop" | "alias" | "optional" | "promote";

const promotions: Readonly<Record<string, readonly string[]>> = {
  int: ["long", "float", "double"],
  long: ["double"],
  float: ["double"],
  string: ["bytes"],
};

function changed(name: string, schema: unknown, change: Change): unknown {
  const wider = typeof schema === "string" ? promotions[schema] : undefined;
  switch (change) {
    case "keep":
      return { name, type: schema };
    case "drop":
      return null;
    case "alias":
      return { name: `new_${name}`, aliases: [name], type: schema };
    case "optional":
      return { name, type: Array.isArray(schema) || schema === "null" ? schema : ["null", schema] };
    case "promote":
      return { name, type: wider?.[name.length % wider.length] ?? schema };
  }
}

/** avsc makes wrong doubles of longs that need more than 50 bits. */
function isBeyondAvsc(drawn: readonly [Sample, Change] | undefined): boolean {
  const value = drawn?.[0].value;
  return typeof value === "bigint" && BigInt.asIntN(50, value) !== value;
}

/** Makes integers of both kinds equal, and floats of both: avsc returns a promoted int unchanged. */
function sameKind(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(plain(value), (_, part: unknown) =>
      typeof part === "bigint" ? `${part}` : typeof part === "number" ? (Object.is(part, -0) ? "0" : `${part}`) : part,
    ),
  );
}

describe("schema resolution", () => {
  const changes = fc.constantFrom<Change>("keep", "drop", "alias", "optional", "promote");

  test("gives what avsc's resolvers give", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(sample, changes), { minLength: 1, maxLength: 6 }), fc.boolean(), (drawn, isReversed) => {
        const { schema, value } = named({
          schema: { type: "record", name: "T", fields: drawn.map(([part], i) => ({ name: `f${i}`, type: part.schema })) },
          value: Object.fromEntries(drawn.map(([part], i) => [`f${i}`, part.value])),
        } satisfies Sample);
        const { fields } = schema as { fields: readonly { name: string; type: unknown }[] };
        const kept = fields
          .map(({ name, type }, i) => changed(name, type, isBeyondAvsc(drawn[i]) ? "keep" : (drawn[i]?.[1] ?? "keep")))
          .filter((part) => part !== null);
        const added = { name: "added", type: ["string", "null"], default: "a" };
        const reader = { ...(schema as object), fields: [...(isReversed ? kept.toReversed() : kept), added] };
        const [writerType, readerType] = [avscTypeOf(schema), avscTypeOf(reader)];
        const payload = writerType.toBuffer(value);
        const expected = readerType.fromBuffer(payload, readerType.createResolver(writerType));
        const outcome = project(schema, reader, payload) as { value: object };
        expect(sameKind(outcome.value)).toEqual(sameKind(expected));
        expect(Object.keys(outcome.value)).toEqual((reader.fields as { name: string }[]).map(({ name }) => name));
      }),
      { numRuns: 300 },
    );
  });

  test.each<[string, unknown, unknown, Buffer, unknown]>([
    [
      "an int is a long, with the reader's meaning",
      "int",
      { type: "long", logicalType: "timestamp-millis" },
      long(1),
      "1970-01-01T00:00:00.001Z",
    ],
    ["an int is a float", "int", "float", long(16_777_217), 16_777_216],
    ["a long beyond 2^53 is the nearest double", "long", "double", long(2n ** 60n + 1n), 2 ** 60],
    ["bytes are text", record(field("a", "bytes")), record(field("a", "string")), text("é"), { a: "é" }],
    ["text is bytes", record(field("a", "string")), record(field("a", "bytes")), text("a"), { a: Buffer.from("a") }],
    ["a value is one of a union", "int", ["null", "string", "long"], long(3), 3],
    ["its own type comes before one that it can become", "int", ["double", "int"], long(3), 3],
    ["a union's branch is the value alone", ["null", "int"], "long", Buffer.concat([long(1), long(3)]), 3],
    [
      "a symbol that is not there is the enum's default",
      { type: "enum", name: "E", symbols: ["A", "B"] },
      { type: "enum", name: "E", symbols: ["A", "X"], default: "X" },
      long(1),
      "X",
    ],
    [
      "symbols are found by their names",
      { type: "enum", name: "E", symbols: ["A", "B"] },
      { type: "enum", name: "E", symbols: ["B", "A"] },
      long(1),
      "B",
    ],
    [
      "a namespace may differ",
      { type: "fixed", name: "F", namespace: "a", size: 1 },
      { type: "fixed", name: "F", namespace: "b", size: 1 },
      Buffer.from([7]),
      Buffer.from([7]),
    ],
    [
      "an alias is a name",
      { type: "fixed", name: "F", size: 1 },
      { type: "fixed", name: "G", aliases: ["F"], size: 1 },
      Buffer.from([7]),
      Buffer.from([7]),
    ],
    [
      "a default is a value of its type, with its meaning",
      record(),
      record(field("d", { type: "bytes", logicalType: "decimal", precision: 4, scale: 2 }, { default: "\u0001\u0000" })),
      Buffer.alloc(0),
      { d: "2.56" },
    ],
    [
      "a default may be a record",
      record(),
      record(
        field(
          "r",
          { type: "record", name: "I", fields: [field("x", "int"), field("y", { type: "array", items: "string" })] },
          { default: { x: 1, y: ["a"] } },
        ),
      ),
      Buffer.alloc(0),
      { r: { x: 1, y: ["a"] } },
    ],
    [
      "a column called __proto__ is one",
      record(),
      record(field("__proto__", "int", { default: 1 })),
      Buffer.alloc(0),
      Object.defineProperty({}, "__proto__", { value: 1, enumerable: true, configurable: true, writable: true }),
    ],
    [
      "records that hold themselves are",
      { type: "record", name: "L", fields: [field("next", ["null", "L"]), field("v", "int")] },
      { type: "record", name: "L", fields: [field("v", "long"), field("next", ["null", "L"])] },
      Buffer.from([2, 0, 4, 2]),
      { v: 1, next: { v: 2, next: null } },
    ],
  ])("%s", (_name, writer, reader, payload, value) => {
    const outcome = project(outer(writer), outer(reader), payload);
    expect(outcome).toEqual({ value: { w: value } });
  });

  test.each<[string, unknown, unknown]>([
    ["a double is no float", "double", "float"],
    ["a long is no int", "long", "int"],
    ["text is no number", "string", "int"],
    ["a field without a default", record(), record(field("a", "int"))],
    ["a fixed of another name", { type: "fixed", name: "F", size: 1 }, { type: "fixed", name: "G", size: 1 }],
    ["a fixed of another size", { type: "fixed", name: "F", size: 1 }, { type: "fixed", name: "F", size: 2 }],
    [
      "a decimal of another scale",
      { type: "bytes", logicalType: "decimal", precision: 4, scale: 2 },
      { type: "bytes", logicalType: "decimal", precision: 4, scale: 3 },
    ],
    [
      "a time in another unit",
      { type: "long", logicalType: "timestamp-millis" },
      { type: "long", "connect.name": "io.debezium.time.MicroTimestamp" },
    ],
    ["none of a union", "string", ["null", "int"]],
  ])("%s is an error before anything is read", (_name, writer, reader) => {
    expect(() => project(outer(writer), outer(reader), Buffer.alloc(0))).toThrow(/^\[schema-mismatch\]/);
  });

  test.each<[string, unknown, unknown, Buffer]>([
    ["a branch that the reader does not have", ["null", "string"], ["null", "int"], Buffer.concat([long(1), text("a")])],
    [
      "a symbol that the reader does not have",
      { type: "enum", name: "E", symbols: ["A", "B"] },
      { type: "enum", name: "E", symbols: ["A"] },
      long(1),
    ],
  ])("%s is an error where it arrives, and none before", (_name, writer, reader, payload) => {
    const [from, to] = [outer(writer), outer(reader)];
    expect(project(from, to, payload)).toEqual({ code: "schema-mismatch" });
    expect(project(from, to, long(0))).toHaveProperty("value");
  });

  test("a record of a union is read by the branch of its own namespace, or of its alias", () => {
    const of = (namespace: string, columns: readonly string[], more: object = {}): unknown => {
      const fields = columns.map((name) => field(name, "int", { default: 0 }));
      return { type: "record", name: "Item", namespace, fields, ...more };
    };
    const payload = Buffer.concat([long(1), Buffer.from([2, 4])]);
    const writer = [of("a", ["x"]), of("b", ["x", "y"])];
    expect(project(outer(writer), outer([...writer]), payload)).toEqual({ value: { w: { x: 1, y: 2 } } });
    const renamed = [of("a", ["x"]), of("c", ["x", "y"], { aliases: ["b.Item"] })];
    expect(project(outer(writer), outer(renamed), payload)).toEqual({ value: { w: { x: 1, y: 2 } } });
    const inNamespace = [of("a", ["x"]), of("b", ["x", "y"], { name: "New", aliases: ["Item"] })]; // which means b.Item
    expect(project(outer(writer), outer(inNamespace), payload)).toEqual({ value: { w: { x: 1, y: 2 } } });
    expect(project(outer(writer), outer([of("d", ["y"])]), payload)).toEqual({ value: { w: { y: 2 } } });
  });

  test("a symbol of a union is read by the enum of its own namespace", () => {
    const of = (namespace: string, symbol: string): unknown => ({ type: "enum", name: "E", namespace, symbols: [symbol] });
    const schema = [of("a", "X"), of("b", "Y")];
    expect(project(outer(schema), outer(schema), Buffer.concat([long(1), long(0)]))).toEqual({ value: { w: "Y" } });
  });

  test("a default that does not fit its type is schema-invalid", () => {
    expect(() => project(record(), record(field("a", "int", { default: "x" })), Buffer.alloc(0))).toThrow(/^\[schema-invalid\]/);
  });

  test("a default beyond 2^53 keeps its digits", () => {
    const text = `{"type":"record","name":"R","fields":[{"name":"to","type":"long","default":9223372036854775807}]}`;
    const options = { values: resolveValueOptions(), limits: resolveLimits(), plan: readEverything, codeGeneration: true };
    const reader = compileAvroReader(avroType(record()), options, parseAvroSchema(text, [], resolveLimits()));
    expect(reader.read(Buffer.alloc(0), 0, 0)).toEqual({ to: 2n ** 63n - 1n });
  });

  test("a mutable default is made again for each value", () => {
    const list = record(field("a", { type: "array", items: "int" }, { default: [] }));
    for (const codeGeneration of [true, false]) {
      const reader = compile(record(), list, readEverything, codeGeneration);
      const [one, other] = [reader.read(Buffer.alloc(0), 0, 0), reader.read(Buffer.alloc(0), 0, 0)] as { a: number[] }[];
      expect(one?.a).not.toBe(other?.a);
    }
  });

  test("all columns of a wide record are read into their places", () => {
    const columns = Array.from({ length: 120 }, (_, i) => field(`c${i}`, "int"));
    const wanted = [...columns.toReversed(), field("more", "int", { default: 7 })];
    const outcome = project(record(...columns), record(...wanted), Buffer.from(columns.map((_, i) => (i * 2) & 0x7f))) as {
      value: Record<string, unknown>;
    };
    expect(Object.keys(outcome.value)).toEqual(wanted.map((column) => (column as { name: string }).name));
    expect(outcome.value).toMatchObject({ c0: 0, c5: 5, c63: 63, c119: 55, more: 7 });
  });

  test("a payload of bytes is read as text if the reader's schema declares text, and text as bytes", () => {
    expect(project("bytes", "string", Buffer.from("é"))).toEqual({ value: "é" });
    expect(project("bytes", ["null", "bytes"], Buffer.from("a"))).toEqual({ value: Buffer.from("a") });
    expect(project("string", "bytes", text("a"))).toEqual({ value: Buffer.from("a") });
  });

  test("a record that cannot be resolved is an error at every place that contains it", () => {
    const tree = (leaf: unknown, ...more: unknown[]): unknown => ({
      type: "record",
      name: "A",
      fields: [field("b", ["null", { type: "record", name: "B", fields: [field("a", ["null", "A"])] }]), field("leaf", leaf), ...more],
    });
    const [from, to] = ["string", "int"].map((leaf) => record(field("u", ["null", tree(leaf)]), field("b", ["null", "B"])));
    const start = Buffer.from([0, 2]); // `u` is null, then `b` ...
    expect(project(from, to, Buffer.concat([start, Buffer.from([0])]))).toEqual({ value: { u: null, b: { a: null } } });
    expect(project(from, to, Buffer.concat([start, Buffer.from([2, 0, 0])]))).toEqual({ code: "schema-mismatch" });
    expect(project(from, to, Buffer.from([2]))).toEqual({ code: "schema-mismatch" });
  });

  test("cycles of records that pair up in thousands of ways end in a typed error", () => {
    const circle = (count: number): unknown => {
      const names = Array.from({ length: count }, (_, i) => `n${i}.R`);
      return names.reduceRight<unknown>((inside, name) => ({ type: "record", name, fields: [field("next", ["null", inside])] }), names[0]);
    };
    expect(() => project(outer(circle(29)), outer(circle(31)), Buffer.from([0]))).toThrow(/^\[schema-invalid\]/);
    expect(project(outer(circle(29)), outer(circle(29)), Buffer.from([0]))).toHaveProperty("value");
  });

  test("defaults that are made again cost as much as values that are read", () => {
    const added = field("m", { type: "array", items: { type: "map", values: "int" } }, { default: [{}, {}, {}] });
    const items = (...fields: unknown[]): unknown => record(field("r", { type: "array", items: { type: "record", name: "I", fields } }));
    const payload = (count: number): Buffer => Buffer.concat([long(count), Buffer.alloc(count), Buffer.from([0])]);
    const [from, to] = [items(field("x", "int")), items(field("x", "int"), added)];
    expect(project(from, to, payload(1_000))).toHaveProperty("value");
    expect(project(from, to, payload(1_000_000))).toEqual({ code: "limit-exceeded" });
    const [none, only] = [items(), items(added)];
    expect(project(none, only, Buffer.concat([long(60_000), Buffer.from([0])]))).toEqual({ code: "limit-exceeded" });
  });

  test("both readers give the same result for cut or changed bytes", () => {
    fc.assert(
      fc.property(sample, changes, fc.uint8Array({ minLength: 1, maxLength: 4 }), fc.nat(), (drawn, change, patch, place) => {
        const { schema, value } = named({
          schema: {
            type: "record",
            name: "T",
            fields: [
              { name: "f0", type: drawn.schema },
              { name: "f1", type: "string" },
            ],
          },
          value: { f0: drawn.value, f1: "end" },
        });
        const [first] = (schema as { fields: readonly { type: unknown }[] }).fields;
        const kept = changed("f0", first?.type, change);
        const reader = { ...(schema as object), fields: [{ name: "f1", type: "bytes" }, ...(kept === null ? [] : [kept])] };
        const payload = avscTypeOf(schema).toBuffer(value);
        project(schema, reader, payload.subarray(0, place % (payload.length + 1)));
        payload.set(patch.subarray(0, payload.length), place % Math.max(1, payload.length - patch.length));
        project(schema, reader, payload);
      }),
      { numRuns: 500 },
    );
  });

  test("a deferred field is peeked into under the reader's names", () => {
    const source = (...fields: unknown[]): unknown => ({ type: "record", name: "Source", fields });
    const writer = record(field("source", source(field("lsn", "long"), field("relation", "string"))), field("op", "string"));
    const reader = record(
      field("op", "string"),
      field("source", source(field("table", "string", { aliases: ["relation"] }), field("lsn", "double"))),
    );
    const plan: ReadPlan = { defer: { field: "source", peek: ["table"], resolve: ([table]) => table }, skip: [], rows: [] };
    const payload = Buffer.concat([long(5), text("orders"), text("c")]);
    for (const codeGeneration of [true, false]) {
      const value = compile(writer, reader, plan, codeGeneration).read(payload, 0, payload.length) as {
        source: Deferred;
      };
      expect(value.source).toBeInstanceOf(Deferred);
      expect(value.source.peeked).toBe("orders");
      expect(value.source.value).toEqual({ table: "orders", lsn: 5 });
    }
  });
});

describe("a long as a float is rounded once", () => {
  // From `(float) x` in Java 17.
  const casts: readonly (readonly [bigint, number])[] = [
    [1_152_921_573_326_323_713n, 1_152_921_642_045_800_448],
    [-1_152_921_573_326_323_713n, -1_152_921_642_045_800_448],
    [1_152_921_573_326_323_712n, 1_152_921_504_606_846_976],
    [1_152_921_573_326_323_711n, 1_152_921_504_606_846_976],
    [9_223_372_036_854_775_807n, 9_223_372_036_854_775_808],
    [-9_223_372_036_854_775_808n, -9_223_372_036_854_775_808],
    [9_007_199_791_611_905n, 9_007_200_328_482_816],
    [1_152_921_710_765_277_185n, 1_152_921_779_484_753_920],
  ];
  for (const [value, float] of casts) {
    test(String(value), () => {
      expect(project("long", "float", long(value))).toEqual({ value: float });
    });
  }
});
