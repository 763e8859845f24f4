import { semanticTypes, type Type } from "@cdckit/decode";
import { describe, expect, test } from "vitest";
import { columnTypeOf, commonType, hasPlainTexts, widerType } from "./column-type.ts";

test.each(semanticTypes)("a column of %s has the type of what its values mean, however they were sent", (name) => {
  const semantic = { name, parameters: {} };
  const sent: readonly Type[] = [
    { kind: "boolean", semantic },
    { kind: "double", semantic },
  ];
  const [one, other] = sent.map(columnTypeOf);
  expect(other).toBe(one);
});

test.each([
  ["google.protobuf.Timestamp", "text"], // nanoseconds
  ["google.protobuf.Duration", "text"],
  ["google.type.TimeOfDay", "text"],
  ["google.type.Date", "date"],
  ["confluent.type.Decimal", "numeric"],
])("Protobuf's %s, which is a text in rows, has a column of %s", (name, column) => {
  const type: Type = { kind: "record", name, fields: [], semantic: { name, parameters: {} } };
  expect(columnTypeOf(type)).toBe(column);
  expect(columnTypeOf({ kind: "array", items: type })).toBe(`${column}[]`);
});

test("a column of integers and fractions, as JSON Schema's numbers are, is numeric, and one of numbers and texts has JSON", () => {
  const numbers: readonly Type[] = [{ kind: "long" }, { kind: "double" }];
  expect(columnTypeOf({ kind: "union", branches: numbers })).toBe("numeric");
  expect(columnTypeOf({ kind: "union", branches: [...numbers, { kind: "string" }] })).toBe("jsonb");
});

describe("a text for a column of JSON", () => {
  const string: Type = { kind: "string" };
  const json: Type = { kind: "string", semantic: { name: "io.debezium.data.Json", parameters: {} } };
  const union = (...branches: Type[]): Type => ({ kind: "union", branches: [{ kind: "null" }, ...branches] });

  test.each<[string, Type]>([
    ["a union", union(string, { kind: "long" })],
    ["any value", { kind: "any" }],
    ["a list of any values", { kind: "array", items: union({ kind: "any" }) }],
  ])("is plain if the type is %s", (_, type) => {
    expect(hasPlainTexts(type)).toBe(true);
  });

  test.each<[string, Type]>([
    ["JSON", json],
    ["JSON or null", union(json)],
    ["JSON or a number", union(json, { kind: "long" })],
    ["JSON of any type", { ...json, kind: "any" } as Type],
    ["a list of JSON", { kind: "array", items: json }],
    ["string, which may have documents of databases without a type for them", union(string)],
  ])("is that of a document if the type is %s", (_, type) => {
    expect(hasPlainTexts(type)).toBe(false);
  });
});

test.each([
  ["double precision", "numeric", "numeric"],
  ["real", "bigint", "numeric"],
  ["numeric", "double precision", null],
  ["date", "timestamp", "timestamp"],
  ["timestamp without time zone", "date", null],
  ["integer[]", "bigint[]", "bigint[]"],
  ["integer", "integer[]", null],
])("%s is widened for %s to %s", (present, wanted, wider) => {
  expect(widerType(present, wanted)).toBe(wider);
});

test.each([
  ["text", "integer", "text"],
  ["bytea", "text", "text"],
  ["numeric", "double precision", "numeric"],
  ["timestamp", "date", "timestamp"],
  ["boolean", "integer", "integer"],
])("a new table has %s, and then %s, in a column of %s", (before, latest, common) => {
  expect(commonType(before, latest)).toBe(common);
});

test.each(["constructor", "toString", "__proto__"])("a schema may have the name %s, which means nothing", (name) => {
  expect(columnTypeOf({ kind: "int", semantic: { name, parameters: {} } })).toBe("integer");
});
