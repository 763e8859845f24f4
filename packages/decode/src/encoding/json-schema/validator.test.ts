import { execFileSync } from "node:child_process";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { isDecodeError } from "../../errors.ts";
import { resolveLimits, resolveValueOptions, type ValidationMode } from "../../options.ts";
import type { SchemaReference } from "../../schema-source.ts";
import { type PayloadReader, readEverything } from "../reader.ts";
import { jsonSchema } from "./encoding.ts";

const limits = resolveLimits();

function readerOf(schema: unknown, validation: ValidationMode = "on", references: readonly SchemaReference[] = []): PayloadReader {
  const text = typeof schema === "string" ? schema : JSON.stringify(schema);
  const parsed = jsonSchema.parse({ id: 1, schemaType: "JSON", schema: text, references }, limits);
  return parsed.compile(null, { values: resolveValueOptions(), limits, plan: readEverything, codeGeneration: true, validation });
}

function outcomeOf(run: () => unknown): { value: unknown } | { code: string; message: string } {
  try {
    return { value: run() };
  } catch (error) {
    if (!isDecodeError(error)) {
      throw error;
    }
    return { code: error.code, message: error.message };
  }
}

function check(
  schema: unknown,
  value: unknown,
  references: readonly SchemaReference[] = [],
): { value: unknown } | { code: string; message: string } {
  const bytes = Buffer.from(typeof value === "string" ? value : JSON.stringify(value));
  return outcomeOf(() => readerOf(schema, "on", references).read(bytes, 0, bytes.length));
}

const object = (properties: Record<string, unknown>): object => ({ type: "object", properties });
const broken = (rule: string): unknown => ({ code: "value-invalid", message: expect.stringContaining(JSON.stringify(rule)) });

test("ajv is loaded where values are to be checked, and only there", async () => {
  vi.resetModules(); // other files of this process have asked for it, perhaps
  const { jsonSchema: unused } = await import("./encoding.ts");
  expect([unused.isLoaded?.(), unused.isLoaded?.("off"), unused.isLoaded?.("on")]).toEqual([true, true, false]);
  await unused.load?.("off");
  expect(unused.isLoaded?.("sampled")).toBe(false);
  await unused.load?.("sampled");
  expect(unused.isLoaded?.("on")).toBe(true);
});

describe("checking values", () => {
  beforeAll(() => jsonSchema.load?.("on"));

  test.each<[string, unknown, unknown, unknown, string]>([
    ["a bound", object({ age: { type: "integer", minimum: 0 } }), { age: 0 }, { age: -1 }, "#/properties/age/minimum"],
    ["what is required", { ...object({ a: {} }), required: ["a"] }, { a: null }, {}, "#/required"],
    ["a pattern", object({ a: { type: "string", pattern: "^[A-Z]+$" } }), { a: "AB" }, { a: "ab" }, "#/properties/a/pattern"],
    ["an enum", object({ a: { enum: ["x", { b: [1], a: 2 }] } }), { a: { a: 2, b: [1] } }, { a: "y" }, "#/properties/a/enum"],
    [
      "unique items",
      object({ a: { type: "array", uniqueItems: true } }),
      { a: [1, "1", [1]] },
      {
        a: [
          { x: 1, y: 2 },
          { y: 2, x: 1 },
        ],
      },
      "#/properties/a/uniqueItems",
    ],
    ["no further properties", { ...object({ a: {} }), additionalProperties: false }, { a: 1 }, { b: 1 }, "#/additionalProperties"],
    [
      "alternatives",
      object({ a: { oneOf: [{ type: "string" }, { type: "string", maxLength: 1 }] } }),
      { a: "ab" },
      { a: "a" },
      "#/properties/a/oneOf",
    ],
    [
      "a reference",
      { ...object({ a: { $ref: "#/$defs/x" } }), $defs: { x: { type: "string", minLength: 2 } } },
      { a: "ab" },
      { a: "a" },
      "#/$defs/x/minLength",
    ],
    [
      "draft 4's exclusive bound",
      { $schema: "http://json-schema.org/draft-04/schema#", ...object({ a: { type: "number", maximum: 5, exclusiveMaximum: true } }) },
      { a: 4 },
      { a: 5 },
      "#/properties/a/exclusiveMaximum",
    ],
    ["draft 7's dependencies", { ...object({}), dependencies: { a: ["b"] } }, { a: 1, b: 1 }, { a: 1 }, "#/dependencies"],
    [
      "draft 2019-09's unevaluated properties",
      { allOf: [object({ a: {} })], type: "object", unevaluatedProperties: false },
      { a: 1 },
      { b: 1 },
      "#/unevaluatedProperties",
    ],
    [
      "draft 2020-12's tuples",
      object({ a: { prefixItems: [{ type: "string" }], items: { type: "integer" } } }),
      { a: ["x", 1] },
      { a: ["x", "y"] },
      "#/properties/a/items/type",
    ],
    ["a property that a prototype has", { ...object({}), required: ["constructor"] }, { constructor: 1 }, {}, "#/required"],
  ])("%s", (_name, schema, good, bad, rule) => {
    expect(check(schema, good)).toEqual({ value: good });
    expect(check(schema, bad)).toEqual(broken(rule));
  });

  test("what may be null or something else says which rule of the other was broken", () => {
    const columns = {
      a: { oneOf: [{ type: "null" }, { type: "integer", maximum: 9 }] },
      b: { anyOf: [{ type: "string", minLength: 2 }, { type: "null" }], maxLength: 3 },
      both: { oneOf: [{ type: "null" }, { maximum: 9 }] },
      either: { anyOf: [{ type: "null" }, { maximum: 9 }] },
    };
    for (const good of [
      { a: null, b: null, both: 9, either: null },
      { a: 9, b: "xy", either: 9 },
    ]) {
      expect(check(object(columns), good)).toEqual({ value: good });
    }
    expect(check(object(columns), { a: 10 })).toEqual(broken("#/properties/a/oneOf/1/maximum"));
    expect(check(object(columns), { b: "x" })).toEqual(broken("#/properties/b/anyOf/0/minLength"));
    expect(check(object(columns), { b: "wxyz" })).toEqual(broken("#/properties/b/maxLength"));
    expect(check(object(columns), { either: 10 })).toEqual(broken("#/properties/either/anyOf/1/maximum"));
    expect(check(object(columns), { both: null })).toHaveProperty("code", "value-invalid"); // which both allow
  });

  test("a reference by name, and what holds itself", () => {
    const node = object({ n: { type: "integer", maximum: 9 }, next: { $ref: "node.json" } });
    const references = [{ name: "node.json", schema: JSON.stringify(node) }];
    expect(check(object({ first: { $ref: "node.json" } }), { first: { n: 1, next: { n: 9 } } }, references)).toHaveProperty("value");
    expect(check(object({ first: { $ref: "node.json" } }), { first: { n: 1, next: { n: 10 } } }, references)).toEqual(
      broken("node.json#/properties/n/maximum"),
    );
  });

  test("changes nothing: no defaults, no coercion, no removal", () => {
    const schema = { ...object({ a: { type: "string", default: "x" }, b: { type: "integer" } }), additionalProperties: true };
    expect(check(schema, { b: 1, c: 2 })).toEqual({ value: { b: 1, c: 2 } });
  });

  test("format is an annotation", () => {
    expect(check(object({ a: { type: "string", format: "email" } }), { a: "no address" })).toEqual({ value: { a: "no address" } });
  });

  test("values are converted as without checks", () => {
    const schema = object({ day: { type: "integer", "connect.type": "int32", title: "io.debezium.time.Date" }, n: { type: "integer" } });
    expect(check(schema, '{"day":1,"n":9007199254740993}')).toEqual({ value: { day: "1970-01-02", n: 9_007_199_254_740_993n } });
  });

  test("errors hold neither values nor names of the payload", () => {
    const schema = { ...object({}), additionalProperties: { type: "integer" } };
    const outcome = check(schema, { "secret-name": "secret-value" }) as { message: string };
    expect(outcome.message).not.toContain("secret");
    const long = check({ ...object({}), patternProperties: { ["x".repeat(1_000)]: false } }, { ["x".repeat(1_000)]: 1 }) as {
      message: string;
    };
    expect(long.message.length).toBeLessThan(400);
  });

  test("sampled is one message in a hundred, beginning with the first", () => {
    const reader = readerOf(object({ a: { maximum: 0 } }), "sampled");
    const bytes = Buffer.from('{"a":1}');
    const refused = Array.from({ length: 250 }, (_, i) => i).filter(() => "code" in outcomeOf(() => reader.read(bytes, 0, bytes.length)));
    expect(refused).toEqual([0, 100, 200]);
  });

  test("a message is still read whole, and only between its bounds", () => {
    const reader = readerOf(object({ a: { type: "integer" } }));
    const bytes = Buffer.from('}{"a":1}{');
    expect(reader.read(bytes, 1, 8)).toEqual({ a: 1 });
    expect(outcomeOf(() => reader.read(bytes, 1, 9))).toMatchObject({ code: "trailing-bytes" });
    expect(outcomeOf(() => reader.read(bytes, 1, 7))).toMatchObject({ code: "truncated" });
  });
});

describe("hostile schemas and values", () => {
  beforeAll(() => jsonSchema.load?.("on"));

  test("schema text runs nowhere", () => {
    const evil = "');globalThis.pwned=1;('";
    const names = [evil, '"];globalThis.pwned=1;//', "`${globalThis.pwned=1}`", "\u2028globalThis.pwned=1", "__proto__", "constructor"];
    for (const name of names) {
      const schema = {
        $id: `http://x.example/${name}`,
        $comment: name,
        title: name,
        [name]: name,
        properties: JSON.parse(`{${JSON.stringify(name)}:{"const":${JSON.stringify(name)},"default":${JSON.stringify(name)}}}`) as unknown,
        required: [name],
        patternProperties: { [name.replaceAll(/[^a-z]/g, ".")]: {} },
        dependentRequired: { [name]: [name] },
        type: "object",
      };
      outcomeOf(() => check(schema, { [name]: name }));
    }
    expect(globalThis).not.toHaveProperty("pwned");
  });

  test.each<[string, object]>([
    ["$async, which would make a promise of the answer", { $async: true }],
    ["$data", { minimum: { $data: "1/a" } }],
  ])("%s means nothing", (_name, more) => {
    const outcome = outcomeOf(() => check({ ...object({ a: { type: "string" } }), ...more }, { a: 1 }));
    expect(outcome).not.toHaveProperty("value.a");
  });

  test("a catastrophic pattern ends in time, or at a limit", () => {
    const schema = object({ a: { type: "string", pattern: "^(a+)+$" } });
    expect(check(schema, { a: `${"a".repeat(5_000)}!` })).toEqual(broken("#/properties/a/pattern"));
    expect(check(object({ a: { type: "string", pattern: "(a*)*(a*)*(a*)*b" } }), { a: "a".repeat(1_000_000) })).toMatchObject({
      code: "limit-exceeded",
    });
  });

  test("alternatives that double with each level end at a limit", () => {
    const node = { oneOf: [object({ n: { $ref: "#" } }), object({ n: { $ref: "#" } })] };
    expect(check(node, `${'{"n":'.repeat(60)}1${"}".repeat(60)}`)).toMatchObject({ code: "limit-exceeded" });
  });

  test("unique items are told apart without comparing each with each", () => {
    const items = Array.from({ length: 20_000 }, (_, i) => ({ i }));
    expect(check(object({ a: { type: "array", uniqueItems: true } }), { a: items })).toHaveProperty("value");
  });

  test.each<[string, unknown, string]>([
    ["a look-ahead", object({ a: { pattern: "(?=a)" } }), "schema-invalid"],
    ["a rule of the wrong type", object({ a: { minimum: "zero" } }), "schema-invalid"],
    ["20,000 properties", object(Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`p${i}`, {}]))), "limit-exceeded"],
  ])("a schema with %s is refused when its values are to be checked", (_name, schema, code) => {
    expect(outcomeOf(() => readerOf(schema))).toMatchObject({ code });
    expect(outcomeOf(() => readerOf(schema, "off"))).toHaveProperty("value");
  });

  test("where code generation is off, that is said, and nothing asks for it", () => {
    const parsed = jsonSchema.parse({ id: 1, schemaType: "JSON", schema: '{"type":"object"}' }, limits);
    const options = { values: resolveValueOptions(), limits, plan: readEverything, codeGeneration: false };
    expect(outcomeOf(() => parsed.compile(null, { ...options, validation: "on" }))).toMatchObject({
      code: "unsupported-format",
      message: expect.stringContaining('set validation to "off"') as string,
    });
    expect(outcomeOf(() => parsed.compile(null, options))).toHaveProperty("value");
  });

  test("ajv can be loaded where code generation is off", () => {
    const script = 'await import("ajv/dist/2019.js"); console.log("loaded")';
    const flags = ["--disallow-code-generation-from-strings", "--input-type=module", "-e", script];
    expect(execFileSync(process.execPath, flags, { cwd: import.meta.dirname, encoding: "utf8" })).toBe("loaded\n");
  });
});
