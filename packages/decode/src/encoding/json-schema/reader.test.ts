import { jsonSchemaValidator } from "@cdckit/json-schema";
import { expect, test } from "vitest";
import { resolveLimits, resolveValidation, resolveValueOptions } from "../../options.ts";
import { readEverything } from "../reader.ts";
import { jsonSchema } from "./encoding.ts";

test("a checked message is read to its end, and only between its bounds", () => {
  const limits = resolveLimits();
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
