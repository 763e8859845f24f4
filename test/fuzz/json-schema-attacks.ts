import type { DecoderOptions, RegisteredSchema, SchemaSource } from "@cdckit/decode";
import { jsonSchemaValidator } from "@cdckit/json-schema";
import type { Attack } from "./attacks.ts";

const mib = 2 ** 20;

/** An attack that needs more of the decoder's options than a source of schemas. */
export interface ValidationAttack extends Attack {
  readonly options: Pick<DecoderOptions, "jsonSchemaValidator">;
}

const nothing: object = {};
const object = (properties: object, more: object = nothing): object => ({ type: "object", properties, ...more });
const framed = (text: string): Buffer => Buffer.concat([Buffer.from([0, 0, 0, 0, 1]), Buffer.from(text)]);
const greeting: Buffer = framed("{}");
const repeated = (item: string, part = 1): string => `{"a":[${`${item},`.repeat(Math.floor((part * mib) / (item.length + 1)))}${item}]}`;

/** What is known to cost where JSON is read by a schema. */
export function jsonSchemaAttacks(): readonly Attack[] {
  const list = (items: object): object => object({ a: { type: "array", items } });
  const cases: readonly (readonly [name: string, schema: object, text: string])[] = [
    ["fractions for integers", list({ type: "integer" }), repeated("1.0")],
    ["exponents for integers", list({ type: "integer" }), repeated("1e15")],
    ["exponents of a thousand digits", list({ type: "integer" }), repeated("1e1000")],
    ["as many fractions for integers as are read", list({ type: "integer" }), repeated("1.0", 0.185)],
    ["as many exponents of a thousand digits as are read", list({ type: "integer" }), repeated("1e1000", 0.325)],
    ["as many doubles as are read", list({ type: "number" }), repeated("0.1234567", 0.47)],
    ["maps as objects of key and value", object({ a: pairs }), repeated('{"key":1,"value":1}')],
    ["empty maps", list({ type: "object", additionalProperties: { type: "integer" } }), repeated("{}")],
    ["base64", list({ type: "string", "connect.type": "bytes" }), repeated('"AA=="')],
    [
      "decimals",
      list({ type: "string", title: decimal, "connect.type": "bytes", "connect.parameters": { scale: "2" } }),
      repeated('"AQ=="'),
    ],
    ["a record in itself, too deep", object({ a: { $ref: "#" } }), `${'{"a":'.repeat(mib / 6)}null${"}".repeat(mib / 6)}`],
    ["records that hold themselves", object({ a: { type: "array", items: { $ref: "#" } } }), repeated('{"a":[]}')],
    ["rows of nullable columns", nullableRows, repeated(rowOfDigits)],
    ["1,000 columns, none of them there", list(object(numbered(1_000, {}))), repeated("{}")],
  ];
  return cases.map(([name, schema, text]) => ({
    name: `JSON Schema: ${name}`,
    value: framed(text),
    schemas: sourceOf(schema),
    greeting,
  }));
}

const nullable: object = { oneOf: [{ type: "null" }, { type: "integer" }] };
const nullableRows: object = object({
  a: { type: "array", items: object(Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`f${i}`, nullable]))) },
});
const rowOfDigits: string = `{${Array.from({ length: 9 }, (_, i) => `"f${i}":${i}`).join()}}`;
const decimal = "org.apache.kafka.connect.data.Decimal";
const pairs: object = { type: "array", "connect.type": "map", items: object({ key: { type: "integer" }, value: { type: "integer" } }) };
const numbered = (count: number, schema: object): object => Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, schema]));

/** What is known to cost where values are checked against their schema as well. */
export function validationAttacks(): readonly ValidationAttack[] {
  const self = object({ n: { $ref: "#" } });
  const text = (pattern: string): object => object({ a: { type: "string", pattern } });
  const cases: readonly (readonly [name: string, schema: object, text: string])[] = [
    ["a catastrophic pattern", text("^(a+)+$"), `{"a":"${"a".repeat(mib)}!"}`],
    ["a pattern that begins everywhere", text("a*a*a*a*b"), `{"a":"${"a".repeat(mib)}"}`],
    ["a pattern of many states", text("[ab]*a[ab]{200}[cd]"), `{"a":"${shuffledLetters(mib)}"}`],
    ["as many characters against many states as are read", text("[ab]*a[ab]{200}[cd]"), `{"a":"${shuffledLetters(2_700)}"}`],
    [
      "as many short texts against many states as are read",
      object({ a: { items: { pattern: "[ab]*a[ab]{20}[ab]*c" } } }),
      `{"a":[${(shuffledLetters(40 * 430).match(/.{40}/g) ?? []).map((each) => `"${each}c"`).join()}]}`,
    ],
    ["a pattern that goes back over what it took", text("^a*a{1000}b$"), `{"a":"${"a".repeat(2_800)}"}`],
    ["a pattern for each of many texts", object({ a: { items: { pattern: "^[a-z]+$" } } }), repeated('"a"')],
    ["alternatives that double", { oneOf: [self, self] }, `${'{"n":'.repeat(60)}1${"}".repeat(60)}`],
    [
      "unique items",
      object({ a: { type: "array", uniqueItems: true } }),
      `{"a":[${Array.from({ length: 90_000 }, (_, i) => `{"a":${i}}`).join()}]}`,
    ],
    [
      "as many unique items as are read",
      object({ a: { type: "array", uniqueItems: true } }),
      `{"a":[${Array.from({ length: 35_000 }, (_, i) => `{"a":${i}}`).join()}]}`,
    ],
    [
      "as many unique integers as are read",
      object({ a: { type: "array", uniqueItems: true } }),
      `{"a":[${Array.from({ length: 135_000 }, (_, i) => i).join()}]}`,
    ],
    ["nullable columns", nullableRows, repeated(rowOfDigits)],
    ["as many nullable columns as are read", nullableRows, repeated(rowOfDigits, 0.19)],
    [
      "as many items that refer as are read",
      object({ a: { items: { $ref: "#/$defs/i" } } }, { $defs: { i: { type: "integer" } } }),
      repeated("1000"),
    ],
    [
      "as many names against patterns as are read",
      { type: "object", patternProperties: { "(x+x+)+y": {} } },
      `{${Array.from({ length: 2_500 }, (_, i) => `"xxxxxx${i}":1`).join()}}`,
    ],
    ["an enum of ten thousand", object({ a: { items: { enum: Array.from({ length: 10_000 }, (_, i) => i) } } }), repeated("9999")],
    [
      "names against patterns",
      { type: "object", patternProperties: { "(x+x+)+y": {} } },
      `{${Array.from({ length: 50_000 }, (_, i) => `"xxxxxx${i}":1`).join()}}`,
    ],
    ["items that refer", object({ a: { items: { $ref: "#/$defs/i" } } }, { $defs: { i: { type: "integer" } } }), repeated("1")],
  ];
  return cases.map(([name, schema, value]) => ({
    name: `JSON Schema, checked: ${name}`,
    value: framed(value),
    schemas: sourceOf(schema),
    greeting,
    options: { jsonSchemaValidator },
  }));
}

/** Letters in an order that keeps a pattern from coming back to a state that it has been in. */
function shuffledLetters(count: number): string {
  let random = 12_345;
  return Array.from({ length: count }, () => {
    random = (Math.imul(random, 1_103_515_245) + 12_345) >>> 0;
    return random & 0x10000 ? "a" : "b";
  }).join("");
}

function sourceOf(schema: object): SchemaSource {
  const registered: RegisteredSchema = { id: 1, schemaType: "JSON", schema: JSON.stringify(schema) };
  return { peek: () => registered, load: () => Promise.resolve(registered) };
}
