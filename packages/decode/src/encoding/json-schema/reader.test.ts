import { jsonSchemaValidator } from "@cdckit/json-schema";
import { expect, test } from "vitest";
import { resolveLimits, resolveValidation, resolveValueOptions } from "../../options.ts";
import { type PayloadReader, readEverything, type ReadPlan } from "../reader.ts";
import { jsonSchema } from "./encoding.ts";

test("a checked message is read to its end, and only between its bounds", () => {
  const schema = JSON.stringify({ type: "object", properties: { a: { type: "integer", maximum: 1 } } });
  const parsed = jsonSchema.parse({ id: 1, schemaType: "JSON", schema }, limits);
  const validation = resolveValidation("on", jsonSchemaValidator);
  const reader = parsed.compile(null, { values: resolveValueOptions(), limits, plan: readEverything, codeGeneration: true, validation });
  const bytes = Buffer.from('}{"a":1}{"a":2}');
  expect(reader.read(bytes, 1, 8)).toEqual({ a: 1 });
  expect(() => reader.read(bytes, 8, 15)).toThrow(/^\[value-invalid\]/);
  expect(() => reader.read(bytes, 1, 9)).toThrow(/^\[trailing-bytes\]/);
  expect(() => reader.read(bytes, 1, 7)).toThrow(/^\[truncated\]/);
});

const rowsOf: ReadPlan = { defer: null, skip: [], rows: ["row"] };
const limits = resolveLimits();
const readersOf = (schema: unknown): readonly PayloadReader[] => {
  const parsed = jsonSchema.parse({ id: 1, schemaType: "JSON", schema: JSON.stringify(schema) }, limits);
  const options = { values: resolveValueOptions(), limits, plan: rowsOf };
  const validation = resolveValidation("on", jsonSchemaValidator);
  return [{ codeGeneration: true }, { codeGeneration: false }, { codeGeneration: true, validation }].map((more) =>
    parsed.compile(null, { ...options, ...more }),
  );
};
/** What all of the readers, the last of which lets ajv check the value, read. */
const readByAll = (readers: readonly PayloadReader[], text: string): unknown => {
  const bytes = Buffer.from(text);
  const [value, ...others] = readers.map((reader) => reader.read(bytes, 0, bytes.length));
  for (const other of others) {
    expect(other).toStrictEqual(value);
  }
  return value;
};

const day = { type: "string", format: "date" };
const texts = ["5", '"text"', "true", "null", "[1,2.5]", '{"x":1}', "12345678901234567890"];

test.each<[string, object, (text: string) => boolean]>([
  ["properties", { properties: { at: day } }, () => false],
  ["items", { items: day }, (text) => text.startsWith("[")],
  ["additionalProperties", { additionalProperties: day }, (text) => text.startsWith("{")],
  ["an alternative to null", { anyOf: [{ type: "null" }, { properties: { at: day } }] }, () => false],
])("values of kinds that %s without a type do not describe are read as they are", (_name, schema, isDescribed) => {
  const nested = { type: "object", properties: { row: { type: "object", properties: { a: schema } }, b: schema } };
  const any = readersOf({});
  const alone = readersOf(schema);
  const inside = readersOf(nested);
  const asRow = readersOf({ type: "object", properties: { row: schema } });
  for (const text of texts.filter((other) => !isDescribed(other))) {
    const value = readByAll(any, text);
    expect(readByAll(alone, text)).toStrictEqual(value);
    expect(readByAll(inside, `{"row":{"a":${text}},"b":${text}}`)).toStrictEqual({ row: { a: value }, b: value });
    expect(readByAll(asRow, `{"row":${text}}`)).toStrictEqual({ row: value });
  }
});

test.each(["2026-11-30", "2026-11-30T10:00:00Z", "2026-11-30+01:00", "Z", "WALTZ", ""])("the format date leaves %j as it is", (text) => {
  const readers = readersOf({ type: "object", properties: { a: day } });
  expect(readByAll(readers, JSON.stringify({ a: text }))).toStrictEqual({ a: text });
});
