import { semanticTypes, type Type } from "@cdckit/decode";
import { describe, expect, test } from "vitest";
import { columnTypeOf, hasPlainTexts } from "./column-type.ts";

test.each(semanticTypes)("a column of %s has the type of what its values mean, however they were sent", (name) => {
  const semantic = { name, parameters: {} };
  const sent: readonly Type[] = [
    { kind: "boolean", semantic },
    { kind: "double", semantic },
  ];
  const [one, other] = sent.map(columnTypeOf);
  expect(other).toBe(one);
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
