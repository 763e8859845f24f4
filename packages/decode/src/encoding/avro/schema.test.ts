import { describe, expect, test } from "vitest";
import { isDecodeError } from "../../errors.ts";
import { resolveLimits } from "../../options.ts";
import type { RecordType, Type } from "../type.ts";
import { parseAvroSchema } from "./schema.ts";
import { avroType, recordedAvro, twins } from "./twins.contract.ts";

const limits = resolveLimits();
const record = (name: string, fields: Record<string, unknown>, more: object = {}): unknown => ({
  type: "record",
  name,
  fields: Object.entries(fields).map(([field, type]) => ({ name: field, type })),
  ...more,
});
const field = (type: Type, name: string): Type | undefined =>
  (type as RecordType).fields.find((candidate) => candidate.name === name)?.type;

describe("Connect's conventions", () => {
  test("every recorded schema is read, and an Envelope is named by its connect.name", () => {
    const { schemas } = recordedAvro("salesorderdetail");
    const envelope = parseAvroSchema(schemas.get(2) ?? "", [], limits) as RecordType;
    expect(envelope.name).toBe("av.sales.salesorderdetailbig.Envelope");
    expect(envelope.fields.map(({ name }) => name)).toEqual(["before", "after", "source", "transaction", "op", "ts_ms", "ts_us", "ts_ns"]);
    for (const text of recordedAvro("postgres-debezium-3.5").schemas.values()) {
      expect(parseAvroSchema(text, [], limits).kind).toMatch(/record|long|int|string|bytes/);
    }
  });

  test("parameters that are not scalars are ignored, under any name", () => {
    const type = { type: "int", "connect.name": "c", "connect.parameters": { scale: "2", bad: { toString: 1 }, none: null } };
    const parsed = parseAvroSchema(JSON.stringify(record("R", { a: type })), [], limits);
    expect(field(parsed, "a")).toEqual({ kind: "int", semantic: { name: "c", parameters: { scale: "2" } } });
  });

  test("a record that is named a second time is the same object", () => {
    const { schemas } = recordedAvro("salesorderdetail");
    const envelope = parseAvroSchema(schemas.get(2) ?? "", [], limits);
    const [before, after] = ["before", "after"].map((name) => field(envelope, name) as Type & { kind: "union" });
    expect(before?.branches[1]).toBe(after?.branches[1]);
  });

  test("connect.name and connect.parameters give the semantics", () => {
    const type = avroType({
      type: "long",
      "connect.version": 1,
      "connect.name": "io.debezium.time.MicroTimestamp",
      "connect.parameters": { "__debezium.source.column.type": "TIMESTAMP" },
    });
    expect(type).toEqual({
      kind: "long",
      semantic: { name: "io.debezium.time.MicroTimestamp", parameters: { "__debezium.source.column.type": "TIMESTAMP" } },
    });
  });

  test("a logicalType gives the semantics if there is no connect.name", () => {
    expect(avroType({ type: "bytes", logicalType: "decimal", scale: 2, precision: 9 })).toEqual({
      kind: "bytes",
      semantic: { name: "avro.decimal", parameters: { scale: "2", precision: "9" } },
    });
    expect(avroType({ type: "long", logicalType: "timestamp-micros" })).toEqual({
      kind: "long",
      semantic: { name: "avro.timestamp-micros", parameters: {} },
    });
    expect(avroType({ type: "int", "connect.type": "int16" })).toEqual({ kind: "int" });
  });

  test.each([
    ["below zero", "-2"],
    ["above the precision", "130"],
  ])("a legacy decimal, its scale %s, is read", (_name, scale) => {
    const type = avroType({
      type: "bytes",
      scale: Number(scale),
      precision: 64,
      "connect.version": 1,
      "connect.parameters": { scale },
      "connect.name": "org.apache.kafka.connect.data.Decimal",
      logicalType: "decimal",
    });
    expect(type.semantic).toEqual({ name: "org.apache.kafka.connect.data.Decimal", parameters: { scale } });
  });

  test("a decimal keeps a scale that is declared only as a property", () => {
    const type = avroType({ type: "bytes", scale: 3, "connect.name": "org.apache.kafka.connect.data.Decimal" });
    expect(type.semantic?.parameters).toEqual({ scale: "3" });
  });

  test("parameters on a field take precedence over those of its type, also if it is optional", () => {
    const decimal = record(
      "V",
      { scale: "int", value: "bytes" },
      {
        namespace: "io.debezium.data",
        name: "VariableScaleDecimal",
        "connect.name": "io.debezium.data.VariableScaleDecimal",
        "connect.parameters": { of: "first" },
      },
    );
    const type = avroType({
      type: "record",
      name: "R",
      fields: [
        { name: "a", type: ["null", decimal] },
        { name: "b", type: ["null", "io.debezium.data.VariableScaleDecimal"], "connect.parameters": { of: "second" } },
        { name: "c", type: "io.debezium.data.VariableScaleDecimal" },
      ],
    });
    const [a, b, c] = ["a", "b", "c"].map((name) => field(type, name));
    const meaning = (optional: Type | undefined): unknown =>
      optional?.kind === "union" ? optional.branches[1]?.semantic : optional?.semantic;
    expect(meaning(a)).toEqual({ name: "io.debezium.data.VariableScaleDecimal", parameters: { of: "first" } });
    expect(meaning(b)).toEqual({ name: "io.debezium.data.VariableScaleDecimal", parameters: { of: "second" } });
    // The parameters of the first place do not apply to this column.
    expect(meaning(c)).toEqual({ name: "io.debezium.data.VariableScaleDecimal", parameters: {} });
  });

  test("an array of MapEntry is a map", () => {
    const entry = record("MapEntry", { key: "int", value: ["null", "string"] }, { namespace: "io.confluent.connect.avro" });
    const marked = record("Named", { key: "string", value: "int" }, { "connect.internal.type": "MapEntry" });
    const lookalike = record("MapEntry", { key: "int", value: "int" }, { namespace: "shop" });
    expect(avroType({ type: "array", items: entry })).toMatchObject({ kind: "map", keys: { kind: "int" }, values: { kind: "union" } });
    expect(avroType({ type: "array", items: marked })).toEqual({ kind: "map", keys: null, values: { kind: "int" } });
    expect(avroType({ type: "array", items: lookalike }).kind).toBe("array");
  });
});

describe("names", () => {
  test("a name is in the namespace around it, unless it has dots or a namespace of its own", () => {
    const type = avroType(
      record(
        "Outer",
        {
          a: record("Inner", { x: "int" }),
          b: "Inner",
          c: "shop.Inner",
          d: record("other.Inner", { y: "long", self: ["null", "Inner"] }),
          e: record("Bare", { z: "int" }, { namespace: "" }),
          f: "Bare",
        },
        { namespace: "shop" },
      ),
    ) as RecordType;
    const [a, b, c, d] = type.fields.map((part) => part.type as RecordType);
    expect([type.name, a?.name, d?.name]).toEqual(["shop.Outer", "shop.Inner", "other.Inner"]);
    expect(b).toBe(a);
    expect(c).toBe(a);
    expect(d?.fields[1]?.type).toHaveProperty("branches.1", d);
  });

  test("types of references are found by their names, also those of their own references", () => {
    const references = [
      { name: "geo.City", schema: JSON.stringify(record("geo.City", { name: "string" })) },
      { name: "alias", schema: JSON.stringify(record("geo.Address", { city: "City" })) },
    ];
    const type = parseAvroSchema(
      JSON.stringify(record("Person", { home: "geo.Address", work: "alias", born: "geo.City" })),
      references,
      limits,
    );
    expect(field(type, "home")).toBe(field(type, "work"));
    expect(field(field(type, "home") as Type, "city")).toBe(field(type, "born"));
  });

  test("a schema may be a bare name", () => {
    expect(parseAvroSchema('"string"', [], limits)).toEqual({ kind: "string" });
    expect(parseAvroSchema(" string ", [], limits)).toEqual({ kind: "string" });
    expect(avroType({ type: { type: "long", "connect.name": "x" } })).toEqual({ kind: "long", semantic: { name: "x", parameters: {} } });
  });

  test("no name is looked up in a prototype", () => {
    for (const name of ["__proto__", "constructor", "toString"]) {
      expect(() => avroType(name)).toThrow(/\[schema-invalid\]/);
      expect(avroType(record(name, { [name]: ["null", name] }))).toMatchObject({ name });
    }
  });
});

describe("a text that is no Avro schema is schema-invalid", () => {
  let deepText = '"int"';
  for (let i = 0; i < 5_000; i++) {
    deepText = `{"type":"array","items":${deepText}}`;
  }
  const chain = [record("R0", { x: "int" })];
  for (let i = 1; i < 2_000; i++) {
    chain.push(record(`R${i}`, { x: `R${i - 1}` }));
  }
  const copies = record(
    "Copies",
    Object.fromEntries([
      [
        "first",
        record("Big", Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`c${i}`, "int"])), {
          "connect.name": "b",
          "connect.parameters": { a: "b" },
        }),
      ],
      ...Array.from({ length: 20_000 }, (_, i) => [`f${i}`, "Big"]),
    ]),
  );
  test.each<[string, string]>([
    ["text that is not JSON", "record Foo {}"],
    ["nothing", ""],
    ["a number", "5"],
    ["a name that is none", "null!"],
    ["an unknown name", '"Foo"'],
    ["an unknown type", '{"type":"decimal"}'],
    ["no type at all", "{}"],
    ["an empty union", "[]"],
    ["a union in a union", '["null",["int"]]'],
    ["a record without fields", '{"type":"record","name":"R"}'],
    ["a record without a name", '{"type":"record","fields":[]}'],
    ["a field that is no object", '{"type":"record","name":"R","fields":["a"]}'],
    ["a field without a name", '{"type":"record","name":"R","fields":[{"type":"int"}]}'],
    ["two fields of one name", '{"type":"record","name":"R","fields":[{"name":"a","type":"int"},{"name":"a","type":"int"}]}'],
    ["two types of one name", '[{"type":"fixed","name":"F","size":1},{"type":"fixed","name":"F","size":2}]'],
    ["a primitive that is defined", '{"type":"fixed","name":"int","size":1}'],
    ["an enum without symbols", '{"type":"enum","name":"E"}'],
    ["symbols that are no text", '{"type":"enum","name":"E","symbols":[1]}'],
    ["a fixed of no size", '{"type":"fixed","name":"F"}'],
    ["a fixed of a negative size", '{"type":"fixed","name":"F","size":-1}'],
    ["an array of nothing", '{"type":"array"}'],
    ["types nested too deep", deepText],
    ["types nested too deep through their names", JSON.stringify(chain)],
    ["too many symbols", JSON.stringify({ type: "enum", name: "E", symbols: new Array(100_001).fill("A") })],
  ])("%s", (_name, text) => {
    try {
      parseAvroSchema(text, [], limits);
      expect.unreachable();
    } catch (error) {
      expect(isDecodeError(error) && error.code).toBe("schema-invalid");
    }
  });

  test("text and references that are together too long", () => {
    const small = resolveLimits({ maxSchemaChars: 100 });
    const reference = { name: "F", schema: '{"type":"fixed","name":"F","size":1}' };
    expect(parseAvroSchema('"F"', [reference], small).kind).toBe("fixed");
    expect(() => parseAvroSchema(`"F"${" ".repeat(70)}`, [reference], small)).toThrow(/limits\.maxSchemaChars/);
  });

  test("a short text cannot make an unbounded reader: fields are counted for each way in which they are read", () => {
    expect(() => twins(avroType(copies))).toThrow(/\[schema-invalid\]/);
  });
});
