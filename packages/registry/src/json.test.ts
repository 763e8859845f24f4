import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseJson } from "./json.ts";

describe("JSON of a registry", () => {
  test("reads what JSON.parse reads", () => {
    const property = fc.property(fc.json({ maxDepth: 8 }), (text) => {
      expect(parseJson(Buffer.from(text))).toEqual(JSON.parse(text));
    });
    fc.assert(property);
  });

  test("counts no bracket within text", () => {
    const text = JSON.stringify({ schema: `${'[{\\"'.repeat(1_000)}` });
    expect(parseJson(Buffer.from(text))).toEqual(JSON.parse(text));
  });

  test("ends at 32 levels, whatever they are made of", () => {
    expect(() => parseJson(Buffer.from("[".repeat(32) + "]".repeat(32)))).not.toThrow();
    expect(() => parseJson(Buffer.from("[".repeat(33) + "]".repeat(33)))).toThrow("deeper than 32");
    expect(() => parseJson(Buffer.from('{"a":['.repeat(17)))).toThrow("deeper than 32");
  });

  test("says nothing of what it could not read", () => {
    expect(() => parseJson(Buffer.from("password=hunter2"))).toThrow(/^not JSON in UTF-8$/);
  });
});
