import { execFileSync } from "node:child_process";
import {
  createDecoder,
  type Decoder,
  type DecoderOptions,
  isDecodeError,
  type JsonSchemaValidator,
  type KafkaRecord,
  type RegisteredSchema,
  type SchemaReference,
} from "@cdckit/decode";
import { describe, expect, test } from "vitest";
import { jsonSchemaValidator } from "./validator.ts";

type References = readonly SchemaReference[];

/** A decoder of messages that were written with one schema. */
function decoderOf(schema: unknown, options: DecoderOptions = { jsonSchemaValidator }, references: References = []): Decoder {
  const text = typeof schema === "string" ? schema : JSON.stringify(schema);
  const registered: RegisteredSchema = { id: 1, schemaType: "JSON", schema: text, references };
  return createDecoder({ schemas: { peek: () => registered, load: () => Promise.resolve(registered) }, ...options });
}

/** The row of a message with this content. */
function rowOf(decoder: Decoder, content: Uint8Array): unknown {
  const value = Buffer.concat([Buffer.from([0, 0, 0, 0, 1]), content]);
  const record: KafkaRecord = { topic: "t", partition: 0, offset: 0n, timestamp: 0n, key: null, value, headers: [] };
  const [event] = decoder.decode(record) as readonly { readonly row?: unknown; readonly value?: unknown }[]; // synchronous, because no schema must be loaded
  return event?.row ?? event?.value;
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

function check(schema: unknown, value: unknown, references: References = []): { value: unknown } | { code: string; message: string } {
  const bytes = Buffer.from(typeof value === "string" ? value : JSON.stringify(value));
  return outcomeOf(() => rowOf(decoderOf(schema, { jsonSchemaValidator }, references), bytes));
}

const object = (properties: Record<string, unknown>): object => ({ type: "object", properties });
const broken = (rule: string): unknown => ({ code: "value-invalid", message: expect.stringContaining(JSON.stringify(rule)) });

test("validation without a validator fails at construction, and says what to install and what to write", () => {
  expect(() => createDecoder({ validation: "on" })).toThrow(
    'validation "on" needs a validator, and none was given. Install one (npm install @cdckit/json-schema), import { jsonSchemaValidator } from "@cdckit/json-schema", and write { validation: "on", jsonSchemaValidator }',
  );
  expect(() => createDecoder({ validation: "sampled" })).toThrow('write { validation: "sampled", jsonSchemaValidator }');
  expect(() => createDecoder({ jsonSchemaValidator: {} as never })).toThrow(/^jsonSchemaValidator must be a validator/);
  expect(() => createDecoder({ validation: "off" })).not.toThrow();
});

test("a validator checks every message unless validation is off", () => {
  const schema = object({ a: { maximum: 0 } });
  const wrong = Buffer.from('{"a":1}');
  expect(outcomeOf(() => rowOf(decoderOf(schema), wrong))).toEqual(broken("#/properties/a/maximum"));
  expect(outcomeOf(() => rowOf(decoderOf(schema, { validation: "off", jsonSchemaValidator }), wrong))).toEqual({ value: { a: 1 } });
});

describe("checking values", () => {
  test.each<[string, unknown, unknown, unknown, string]>([
    ["a bound", object({ age: { type: "integer", minimum: 0 } }), { age: 0 }, { age: -1 }, "#/properties/age/minimum"],
    ["a required property", { ...object({ a: {} }), required: ["a"] }, { a: null }, {}, "#/required"],
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
    [
      "a property with the name of a prototype",
      '{"type":"object","properties":{"__proto__":{"type":"integer","minimum":1}},"additionalProperties":false}',
      '{"__proto__":1}',
      '{"__proto__":0}',
      "#/properties/__proto__/minimum",
    ],
    [
      "an alternative beside patterns of names",
      { type: "object", patternProperties: { "^x": {} }, oneOf: [{ properties: { a: { const: "a" } } }, { required: ["b"] }] },
      { x1: 1, a: 1, b: 1 },
      { x1: 1, a: "a", b: 1 },
      "#/oneOf",
    ],
    [
      "a condition beside patterns of names",
      `{"type":"object","patternProperties":{"^x":{}},"if":{"properties":{"kind":{"const":"a"}}},"then":{"properties":{"a":{"type":"string"}}}}`,
      { x1: 1, kind: "b", a: 1 },
      { x1: 1, kind: "a", a: 1 },
      "#/then/properties/a/type",
    ],
    [
      "what a tuple without items contains",
      object({ a: { prefixItems: [{ type: "string" }], contains: { const: "x" } } }),
      { a: ["x"] },
      { a: [] },
      "#/properties/a/contains",
    ],
    ["a name that every object inherits", { ...object({}), required: ["constructor"] }, { constructor: 1 }, {}, "#/required"],
  ])("%s", (_name, schema, good, bad, rule) => {
    expect(check(schema, good)).toEqual({ value: typeof good === "string" ? JSON.parse(good) : good });
    expect(check(schema, bad)).toEqual(broken(rule));
  });

  const old = (number: string): string => `http://json-schema.org/draft-${number}/schema#`;
  const recent = (name: string): string => `https://json-schema.org/draft/${name}/schema`;
  const array = { type: "array", items: { type: "string" }, prefixItems: [{ type: "integer" }] };
  const ifThen = JSON.parse(`{"if":true,"then":{"maxProperties":0}}`) as object; // no literal: an object with "then" looks like a promise

  test.each<[string, string, object, unknown]>([
    ["dependentRequired", old("07"), { ...object({}), dependentRequired: { a: ["b"] } }, { a: 1 }],
    ["dependentSchemas", old("07"), { ...object({}), dependentSchemas: { a: false } }, { a: 1 }],
    ["minContains", old("07"), object({ a: { type: "array", contains: { const: 1 }, minContains: 2 } }), { a: [1] }],
    ["maxContains", old("07"), object({ a: { type: "array", contains: { const: 1 }, maxContains: 1 } }), { a: [1, 1] }],
    ["unevaluatedProperties", old("07"), { ...object({}), unevaluatedProperties: false }, { a: 1 }],
    ["unevaluatedItems", old("07"), object({ a: { type: "array", unevaluatedItems: false } }), { a: [1] }],
    ["prefixItems", old("07"), object({ a: array }), { a: ["x"] }],
    ["if", old("06"), { ...object({}), ...ifThen }, { a: 1 }],
    ["const", old("04"), object({ a: { const: 1 } }), { a: 2 }],
    ["contains", old("04"), object({ a: { type: "array", contains: { type: "string" } } }), { a: [1] }],
    ["propertyNames", old("04"), { ...object({}), propertyNames: { maxLength: 1 } }, { ab: 1 }],
    ["prefixItems", recent("2019-09"), object({ a: array }), { a: ["x"] }],
    ["dependencies", recent("2019-09"), { ...object({}), dependencies: { a: ["b"] } }, { a: 1 }],
    ["dependencies", recent("2020-12"), { ...object({}), dependencies: { a: ["b"] } }, { a: 1 }],
    ["additionalItems", recent("2020-12"), object({ a: { type: "array", prefixItems: [{}], additionalItems: false } }), { a: [1, 2] }],
  ])("%s checks nothing in a draft that does not have it (%s)", (_keyword, $schema, schema, value) => {
    expect(check({ $schema, ...schema }, value)).toEqual({ value });
  });

  test.each<[string, string, object, unknown]>([
    ["#/then/maxProperties", old("07"), { ...object({}), ...ifThen }, { a: 1 }],
    ["#/properties/a/const", old("06"), object({ a: { const: 1 } }), { a: 2 }],
    ["#/dependentRequired", recent("2019-09"), { ...object({}), dependentRequired: { a: ["b"] } }, { a: 1 }],
    [
      "#/properties/a/items/type",
      recent("2020-12"),
      object({ a: { type: "array", prefixItems: [{}], items: { type: "string" } } }),
      { a: [1, 2] },
    ],
    ["#/dependencies", "https://example.com/our-draft", { ...object({}), dependencies: { a: ["b"] } }, { a: 1 }],
  ])("%s is a rule in a draft that has it, or if the draft is not known (%s)", (rule, $schema, schema, value) => {
    expect(check({ $schema, ...schema }, value)).toEqual(broken(rule));
  });

  test("the error for a nullable value names the broken rule of the other alternative", () => {
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
    expect(check(object(columns), { both: null })).toHaveProperty("code", "value-invalid"); // both allow null
  });

  test.each<[divisor: string, good: readonly string[], bad: readonly string[]]>([
    ["0.01", ["19.99", "0", "-0.07", "1e-2", "12345678901.23", "1e22", "90071992547409.93"], ["19.999", "0.001", "-1e-3", "1e-308"]],
    ["0.1", ["0.3", "-1.1", "123456789012345.6"], ["0.30000000000000004", "0.35"]],
    ["0.0001", ["4.35", "1.0005", "7e300"], ["1.00005"]],
    ["2.5", ["7.5", "1e17"], ["7.6"]],
    ["1e-308", ["1e308", "3e-308", "1"], ["1.5e-308"]],
    ["5e-324", ["1e-323", "1e308"], []],
    ["1e308", ["0", "1e308"], ["1e-308", "1.5e308"]],
    ["3", ["9007199254740990", "9007199254740993", "3e200"], ["9007199254740991", "4", "0.3"]],
    ["10", ["9007199254740990", "1e21", "-1e21"], ["9007199254740991", "18014398509481986"]],
    ["1e17", ["3e17", "1e300"], ["3.5e17", "1e16"]],
    ["-0.1", ["0.3"], ["0.35"]],
    ["1", ["1e21", "1.0"], ["0.5"]],
  ])("decimals are multiples of %s as decimals, not as doubles", (divisor, good, bad) => {
    const schema = `{"type":"object","properties":{"a":{"multipleOf":${divisor}}}}`;
    const refused = (numbers: readonly string[]): readonly string[] => numbers.filter((n) => "code" in check(schema, `{"a":${n}}`));
    expect(refused(good)).toEqual([]);
    expect(refused(bad)).toEqual(bad);
  });

  test("the length of a text is its number of characters, not of its code units", () => {
    const lengths = { three: { minLength: 3, maxLength: 3 }, lone: { minLength: 2, maxLength: 2 } };
    const fits = (three: string, lone: string): boolean => "value" in check(object(lengths), JSON.stringify({ three, lone }));
    for (const three of ["abc", "a\u{1f600}b", "\u{1f600}\u{1f600}\u{1f600}"]) {
      expect(fits(three, "ab")).toBe(true);
    }
    for (const three of ["ab", "abcd", "\u{1f600}a", "\u{1f600}\u{1f600}", "\u{1f600}\u{1f600}ab", ""]) {
      expect(fits(three, "ab")).toBe(false);
    }
  });

  test.each<{ readonly constant: unknown; readonly good: unknown; readonly bad: unknown }>([
    { constant: { a: [1, null] }, good: { a: [1, null] }, bad: { a: [1, 0] } },
    { constant: { constructor: { a: 1 }, valueOf: 1 }, good: { valueOf: 1, constructor: { a: 1 } }, bad: { valueOf: 1 } },
    { constant: { a: 1 }, good: { a: 1 }, bad: { valueOf: 1 } },
    { constant: null, good: null, bad: {} },
    { constant: "abc", good: "abc", bad: "abd" },
  ])("a constant equals only itself: $constant", ({ constant, good, bad }) => {
    expect(check(object({ a: { const: constant } }), { a: good })).toHaveProperty("value");
    expect(check(object({ a: { const: constant } }), { a: bad })).toEqual(broken("#/properties/a/const"));
  });

  test("a number that is no multiple is an error of its rule, and 0 has no multiples", () => {
    expect(check(object({ a: { multipleOf: 0.1 } }), { a: 0.35 })).toEqual(broken("#/properties/a/multipleOf"));
    expect(check(object({ a: { multipleOf: 0 } }), { a: 0 })).toEqual(broken("#/properties/a/multipleOf"));
    expect(check(object({ a: { multipleOf: 0.1 } }), { a: "text" })).toHaveProperty("value");
  });

  test("references by name and recursive schemas are checked", () => {
    const node = object({ n: { type: "integer", maximum: 9 }, next: { $ref: "node.json" } });
    const references = [{ name: "node.json", schema: JSON.stringify(node) }];
    expect(check(object({ first: { $ref: "node.json" } }), { first: { n: 1, next: { n: 9 } } }, references)).toHaveProperty("value");
    expect(check(object({ first: { $ref: "node.json" } }), { first: { n: 1, next: { n: 10 } } }, references)).toEqual(
      broken("node.json#/properties/n/maximum"),
    );
  });

  test("values are not changed: no defaults, no coercion, no removal", () => {
    const schema = { ...object({ a: { type: "string", default: "x" }, b: { type: "integer" } }), additionalProperties: true };
    expect(check(schema, { b: 1, c: 2 })).toEqual({ value: { b: 1, c: 2 } });
  });

  test("format is an annotation", () => {
    expect(check(object({ a: { type: "string", format: "email" } }), { a: "no address" })).toEqual({ value: { a: "no address" } });
  });

  test("values are converted as they are without validation", () => {
    const schema = object({ day: { type: "integer", "connect.type": "int32", title: "io.debezium.time.Date" }, n: { type: "integer" } });
    expect(check(schema, '{"day":1,"n":9007199254740993}')).toEqual({ value: { day: "1970-01-02", n: 9_007_199_254_740_993n } });
  });

  test("errors contain neither values nor names of the payload", () => {
    const schema = { ...object({}), additionalProperties: { type: "integer" } };
    const outcome = check(schema, { "secret-name": "secret-value" }) as { message: string };
    expect(outcome.message).not.toContain("secret");
    const long = check({ ...object({}), patternProperties: { ["x".repeat(1_000)]: false } }, { ["x".repeat(1_000)]: 1 }) as {
      message: string;
    };
    expect(long.message.length).toBeLessThan(400);
  });

  test("sampled validation checks one message in a hundred, beginning with the first", () => {
    const decoder = decoderOf(object({ a: { maximum: 0 } }), { validation: "sampled", jsonSchemaValidator });
    const bytes = Buffer.from('{"a":1}');
    const refused = Array.from({ length: 250 }, (_, i) => i).filter(() => "code" in outcomeOf(() => rowOf(decoder, bytes)));
    expect(refused).toEqual([0, 100, 200]);
  });

  test("sampled validation is not passed by reading again if only some columns are read", () => {
    const options = { validation: "sampled", jsonSchemaValidator, selectColumns: () => () => new Set(["b"]) } as const;
    const decoder = decoderOf(object({ a: { maximum: 0 }, b: { type: "integer" } }), options);
    const codes = Array.from({ length: 101 }, (_, i) => outcomeOf(() => rowOf(decoder, Buffer.from(`{"a":1,"b":${i}}`))));
    const refused = codes.flatMap((outcome, i) => ("code" in outcome ? [i] : []));
    expect(refused).toEqual([0, 99]); // the first message that was accepted was read twice: it has shown its table
    expect(codes[1]).toEqual({ value: { b: 1 } });
  });
});

describe("hostile schemas and values", () => {
  test("schema text is never run as code", () => {
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
    ["$async, which would make a promise of the result", { $async: true }],
    ["$data", { minimum: { $data: "1/a" } }],
  ])("%s means nothing", (_name, more) => {
    const outcome = outcomeOf(() => check({ ...object({ a: { type: "string" } }), ...more }, { a: 1 }));
    expect(outcome).not.toHaveProperty("value.a");
  });

  test("a catastrophic pattern ends in time, or exceeds a limit", () => {
    const schema = object({ a: { type: "string", pattern: "^(a+)+$" } });
    expect(check(schema, { a: `${"a".repeat(5_000)}!` })).toEqual(broken("#/properties/a/pattern"));
    expect(check(object({ a: { type: "string", pattern: "(a*)*(a*)*(a*)*b" } }), { a: "a".repeat(1_000_000) })).toMatchObject({
      code: "limit-exceeded",
    });
  });

  test("alternatives that double with each level exceed a limit", () => {
    const node = { oneOf: [object({ n: { $ref: "#" } }), object({ n: { $ref: "#" } })] };
    expect(check(node, `${'{"n":'.repeat(60)}1${"}".repeat(60)}`)).toMatchObject({ code: "limit-exceeded" });
  });

  const times = (count: number, part: unknown): unknown => ({ allOf: Array.from({ length: count }, () => part) });
  const inside = (part: unknown, levels: number): object => {
    const definitions = Array.from({ length: levels }, (_, i) => [`d${i}`, times(2, { $ref: `#/$defs/d${i + 1}` })]);
    return { ...object({ a: { $ref: "#/$defs/d0" } }), $defs: { ...Object.fromEntries(definitions), [`d${levels}`]: part } };
  };
  const text = "x".repeat(1_000_000);
  const named = (count: number): object => Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, 1]));
  test.each<[string, unknown, unknown]>([
    ["characters that are counted a thousand times", object({ a: times(1_000, { minLength: 500_001 }) }), text],
    ["a large object that is compared with listed ones", object({ a: times(200, { not: { enum: [{ b: 1 }] } }) }), { b: text }],
    ["a large object that is compared with a constant", object({ a: times(200, { not: { const: { b: 1 } } }) }), { b: text }],
    ["a long text that is compared with a constant", inside({ const: text.slice(0, 200_000) }, 12), text.slice(0, 200_000)],
    ["large items that must be unique", object({ a: times(200, { uniqueItems: true }) }), [text, { b: 1 }, { b: text }]],
    ["names that are counted", object({ a: times(1_000, { maxProperties: 2_000 }) }), named(1_000)],
    ["names that are looked at", inside({ not: { additionalProperties: false } }, 12), named(1_000)],
    ["names that are required", inside({ required: Object.keys(named(1_000)) }, 12), named(1_000)],
    ["a name that is required a thousand times", inside({ required: Array.from({ length: 1_000 }, () => "f0") }, 12), named(1)],
    ["items that nothing can contain", object({ a: times(100, { not: { contains: false } }) }), Array.from({ length: 5_000 }, () => 1)],
    ["items that are unevaluated", object({ a: times(100, { unevaluatedItems: { minimum: 1 } }) }), Array.from({ length: 5_000 }, () => 1)],
    ["parts of parts", inside(times(100, { minLength: 1 }), 11), "x"],
  ])("%s count by their size, and exceed a limit", (_name, schema, value) => {
    expect(check(schema, { a: value })).toMatchObject({ code: "limit-exceeded" });
  });

  test("what a length, a type or a number of parts decides is not counted by its size", () => {
    const quick = [{ minLength: 1 }, { maxLength: 2_000_000 }, { not: { enum: ["x", [1]] } }, { not: { const: "y" } }];
    expect(check(object({ a: times(100, { allOf: quick }) }), { a: text })).toHaveProperty("value");
    expect(check(object({ a: times(300, { not: { enum: ["x", [1], { b: 1, c: 1 }] } }) }), { a: { b: text } })).toHaveProperty("value");
  });

  test("a long name is not escaped again for each value inside of it", () => {
    const schema = object({ a: { additionalProperties: { items: { type: "integer" } } } });
    const items = Array.from({ length: 40_000 }, () => 1);
    expect(check(schema, { a: { ["~".repeat(400_000)]: items } })).toHaveProperty("value");
  });

  test("unique items are checked without comparing each with each", () => {
    const items = Array.from({ length: 20_000 }, (_, i) => ({ i }));
    expect(check(object({ a: { type: "array", uniqueItems: true } }), { a: items })).toHaveProperty("value");
  });

  const longPattern = String.raw`(?:(?:(?:\p{Ll}?){10}){10}){10}`;
  const manyPatterns = (patternOf: (i: number) => string): Readonly<Record<string, unknown>> =>
    Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`p${i}`, { type: "string", pattern: patternOf(i) }]));

  test("a pattern that stands in many places is made once", () => {
    const schema = object(manyPatterns(() => `^x${longPattern}`));
    expect(check(schema, { p0: "xa", p59: "xb" })).toHaveProperty("value");
    expect(check(schema, { p0: "xa", p59: "b" })).toMatchObject({ code: "value-invalid" });
  });

  test("a schema that is refused is compiled once, however many messages are written with it", () => {
    let compiled = 0;
    const counting: JsonSchemaValidator = {
      compile: (documents, options) => {
        compiled++;
        return jsonSchemaValidator.compile(documents, options);
      },
    };
    const decoder = decoderOf(object({ a: { pattern: "(?=a)" } }), { jsonSchemaValidator: counting });
    for (let i = 0; i < 3; i++) {
      expect(outcomeOf(() => rowOf(decoder, Buffer.from("{}")))).toMatchObject({ code: "schema-invalid" });
    }
    expect(compiled).toBe(1);
  });

  test.each<[string, unknown, string]>([
    ["a look-ahead", object({ a: { pattern: "(?=a)" } }), "schema-invalid"],
    ["a rule of the wrong type", object({ a: { minimum: "zero" } }), "schema-invalid"],
    ["patterns of more than 50,000 instructions together", object(manyPatterns((i) => `${i}${longPattern}`)), "limit-exceeded"],
    ["20,000 properties", object(Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`p${i}`, {}]))), "limit-exceeded"],
  ])("a schema with %s is refused when its values are to be checked", (_name, schema, code) => {
    const empty = Buffer.from("{}");
    expect(outcomeOf(() => rowOf(decoderOf(schema), empty))).toMatchObject({ code });
    expect(outcomeOf(() => rowOf(decoderOf(schema, {}), empty))).toHaveProperty("value");
  });

  test("if code generation is off, the error says so, and nothing tries to generate code", () => {
    const root = { node: { type: "object" }, base: "schema:///" };
    const documents = { root, resolve: () => root, inside: () => root };
    expect(outcomeOf(() => jsonSchemaValidator.compile(documents, { codeGeneration: false, maxNsPerByte: 14 }))).toMatchObject({
      code: "unsupported-format",
      message: expect.stringContaining('set validation to "off"') as string,
    });
  });

  test("ajv can be loaded if code generation is off", () => {
    const script = 'await import("ajv/dist/2019.js"); console.log("loaded")';
    const flags = ["--disallow-code-generation-from-strings", "--input-type=module", "-e", script];
    expect(execFileSync(process.execPath, flags, { cwd: import.meta.dirname, encoding: "utf8" })).toBe("loaded\n");
  });
});
