import { describe, expect, test } from "vitest";
import { isDecodeError } from "../../errors.ts";
import { resolveLimits } from "../../options.ts";
import type { SchemaReference } from "../../schema-source.ts";
import { type RecordType, type Type, withoutNull } from "../type.ts";
import { parseJsonSchema } from "./schema.ts";

const limits = resolveLimits();

function typeOf(schema: unknown, references: readonly SchemaReference[] = []): Type {
  const text = typeof schema === "string" ? schema : JSON.stringify(schema);
  return parseJsonSchema({ id: 1, schemaType: "JSON", schema: text, references }, limits).type;
}

function codeOf(schema: unknown, references: readonly SchemaReference[] = []): string {
  try {
    typeOf(schema, references);
    return "a type";
  } catch (error) {
    return isDecodeError(error) ? error.code : String(error);
  }
}

const referenceTo = (name: string, schema: unknown): SchemaReference => ({ name, schema: JSON.stringify(schema) });
const object = (properties: Record<string, unknown>): unknown => ({ type: "object", properties });
const orOther = { allowsOtherKinds: true } as const;
const optional = (type: Type): Type => ({ kind: "union", branches: [{ kind: "null" }, type] });
const fieldsOf = (type: Type): Record<string, Type> =>
  Object.fromEntries((type as RecordType).fields.map((field) => [field.name, field.type]));

describe("schemas that Connect writes", () => {
  test.each<[string, unknown, Type]>([
    ["int8", { type: "integer", "connect.type": "int8" }, { kind: "int", bits: 8 }],
    ["int16", { type: "integer", "connect.type": "int16" }, { kind: "int", bits: 16 }],
    ["int32", { type: "integer", "connect.type": "int32" }, { kind: "int" }],
    ["int64", { type: "integer", "connect.type": "int64" }, { kind: "long" }],
    ["float32", { type: "number", "connect.type": "float32" }, { kind: "float" }],
    ["float64", { type: "number", "connect.type": "float64" }, { kind: "double" }],
    ["bytes", { type: "string", "connect.type": "bytes" }, { kind: "bytes" }],
    ["an optional", { oneOf: [{ type: "null" }, { type: "string" }], "connect.index": 2 }, optional({ kind: "string" })],
    [
      "a map",
      { type: "object", "connect.type": "map", additionalProperties: { type: "boolean" } },
      { kind: "map", keys: null, values: { kind: "boolean" } },
    ],
    [
      "a map whose keys are no text",
      {
        type: "array",
        "connect.type": "map",
        items: object({ value: { type: "string" }, key: { type: "integer", "connect.type": "int32" } }),
      },
      { kind: "map", keys: { kind: "int" }, values: { kind: "string" } },
    ],
    [
      "a decimal as base64",
      { type: "string", title: "org.apache.kafka.connect.data.Decimal", "connect.type": "bytes", "connect.parameters": { scale: "2" } },
      { kind: "bytes", semantic: { name: "org.apache.kafka.connect.data.Decimal", parameters: { scale: "2" } } },
    ],
    [
      "a decimal as a number",
      { type: "number", title: "org.apache.kafka.connect.data.Decimal", "connect.type": "bytes", "connect.parameters": { scale: "2" } },
      { kind: "bytes", semantic: { name: "org.apache.kafka.connect.data.Decimal", parameters: { scale: "2" } } },
    ],
  ])("%s", (_name, schema, type) => {
    expect(typeOf(schema)).toEqual(type);
  });

  test("fields have the order of connect.index, also if it is on the oneOf around an optional field", () => {
    const type = typeOf({
      type: "object",
      title: "inv.orders.Value",
      properties: {
        b: { oneOf: [{ type: "null" }, { type: "string" }], "connect.index": 1 },
        c: { type: "string", "connect.index": 2 },
        a: { type: "integer", "connect.type": "int32", "connect.index": 0 },
      },
    }) as RecordType;
    expect(type.name).toBe("inv.orders.Value");
    expect(type.fields.map((field) => field.name)).toEqual(["a", "b", "c"]);
  });
});

describe("ordinary schemas", () => {
  test.each<[string, unknown, Type]>([
    ["an integer of any size", { type: "integer" }, { kind: "long" }],
    ["a number of any size", { type: "number" }, { kind: "union", branches: [{ kind: "long" }, { kind: "double" }] }],
    ["a list of types with null", { type: ["string", "null"] }, optional({ kind: "string" })],
    ["several types", { type: ["string", "boolean"] }, { kind: "union", branches: [{ kind: "string" }, { kind: "boolean" }] }],
    ["anyOf with null", { anyOf: [{ type: "integer" }, { type: "null" }] }, optional({ kind: "long" })],
    [
      "alternatives inside of alternatives",
      { anyOf: [{ oneOf: [{ type: "integer" }, { type: "null" }] }, { type: "null" }] },
      optional({ kind: "long" }),
    ],
    ["an alternative that allows everything", { anyOf: [{ type: "integer" }, {}] }, { kind: "any" }],
    ["an enum", { enum: ["a", "b"] }, { kind: "enum", symbols: ["a", "b"] }],
    ["an enum with null", { type: ["string", "null"], enum: ["a", null] }, optional({ kind: "enum", symbols: ["a"] })],
    ["an enum of numbers", { type: "integer", enum: [1, 2] }, { kind: "long" }],
    ["an enum of mixed values", { enum: ["a", 1] }, { kind: "any" }],
    [
      "const in draft 4, where it is no keyword",
      { $schema: "http://json-schema.org/draft-04/schema#", type: "integer", const: "a" },
      { kind: "long" },
    ],
    ["a constant", { const: "order" }, { kind: "enum", symbols: ["order"] }],
    [
      "a timestamp",
      { type: "string", format: "date-time" },
      { kind: "string", semantic: { name: "io.debezium.time.ZonedTimestamp", parameters: {} } },
    ],
    [
      "a date with a title",
      { type: "string", format: "date", title: "Day" },
      { kind: "string", semantic: { name: "io.debezium.time.IsoDate", parameters: {} } },
    ],
    ["a uuid", { type: "string", format: "uuid" }, { kind: "string" }],
    ["a map", { type: "object", additionalProperties: { type: "integer" } }, { kind: "map", keys: null, values: { kind: "long" } }],
    ...["", ".*", "^.*$", "^(.*)$", "^.+$"].map((pattern): [string, unknown, Type] => [
      `a map of names that match ${JSON.stringify(pattern)}`,
      { type: "object", patternProperties: { [pattern]: { type: "integer" } } },
      { kind: "map", keys: null, values: { kind: "long" } },
    ]),
    [
      "a map of names that match a pattern, and of no others",
      { type: "object", patternProperties: { "^x": { type: "integer" } }, additionalProperties: false },
      { kind: "map", keys: null, values: { kind: "long" } },
    ],
    [
      "an object whose names that do not match have any value",
      { type: "object", patternProperties: { "^x": { type: "integer" } } },
      { kind: "record", name: null, fields: [] },
    ],
    [
      "an object whose names that do not match have other values",
      { type: "object", patternProperties: { "^x": { type: "integer" } }, additionalProperties: { type: "string" } },
      { kind: "record", name: null, fields: [] },
    ],
    ["an object of anything", { type: "object" }, { kind: "record", name: null, fields: [] }],
    [
      "an object without its type",
      { properties: { a: { type: "null" } } },
      { kind: "record", name: null, fields: [{ name: "a", type: { kind: "null" } }], ...orOther },
    ],
    [
      "an object whose type another schema states",
      { allOf: [{ type: "object" }, { properties: { a: { type: "null" } } }] },
      { kind: "record", name: null, fields: [{ name: "a", type: { kind: "null" } }] },
    ],
    [
      "a map without its type",
      { additionalProperties: { type: "integer" } },
      { kind: "map", keys: null, values: { kind: "long" }, ...orOther },
    ],
    ["a tuple without its type", { items: [{ type: "string" }] }, { kind: "array", items: { kind: "any" }, ...orOther }],
    ["an array of anything", { type: "array" }, { kind: "array", items: { kind: "any" } }],
    [
      "a tuple of draft 2020-12",
      { type: "array", prefixItems: [{ type: "string" }], items: { type: "integer" } },
      { kind: "array", items: { kind: "any" } },
    ],
    ["a tuple", { type: "array", items: [{ type: "string" }] }, { kind: "array", items: { kind: "any" } }],
    ["an array without its type", { items: { type: "string" } }, { kind: "array", items: { kind: "string" }, ...orOther }],
    ["true", true, { kind: "any" }],
    ["false", false, { kind: "any" }],
    ["nothing at all", {}, { kind: "any" }],
    ["alternatives that only restrict", { type: "string", anyOf: [{ minLength: 3 }, { pattern: "^a" }] }, { kind: "string" }],
    [
      "an object with alternatives of what is required",
      { ...(object({ a: { type: "string" } }) as object), anyOf: [{ required: ["a"] }, { required: ["b"] }] },
      { kind: "record", name: null, fields: [{ name: "a", type: { kind: "string" } }] },
    ],
  ])("%s", (_name, schema, type) => {
    expect(typeOf(schema)).toEqual(type);
  });

  test("allOf is one record of all properties, with the narrowest of their types", () => {
    const type = typeOf({
      allOf: [{ $ref: "#/definitions/base" }, object({ extra: { type: "string" }, id: {} }), object({ id: { type: "string" } })],
      definitions: {
        base: { type: ["object", "null"], properties: { id: true, n: { allOf: [{ type: "number" }, { type: "integer" }] } } },
      },
    });
    expect(fieldsOf(type)).toEqual({ id: { kind: "string" }, n: { kind: "long" }, extra: { kind: "string" } });
  });
});

describe("references", () => {
  const address = { type: "object", title: "Address", properties: { zip: { type: "string" } } };

  test.each<[string, unknown, readonly SchemaReference[]]>([
    ["#/definitions", { ...(object({ a: { $ref: "#/definitions/address" } }) as object), definitions: { address } }, []],
    ["#/$defs", { ...(object({ a: { $ref: "#/$defs/address" } }) as object), $defs: { address } }, []],
    ["a pointer with escapes", { ...(object({ a: { $ref: "#/$defs/a~1b%20~0" } }) as object), $defs: { "a/b ~": address } }, []],
    ["an anchor", { ...(object({ a: { $ref: "#home" } }) as object), $defs: { address: { ...address, $anchor: "home" } } }, []],
    [
      "an anchor of draft 6",
      { ...(object({ a: { $ref: "#home" } }) as object), definitions: { address: { ...address, $id: "#home" } } },
      [],
    ],
    [
      "an $id",
      {
        $id: "http://a.example/x/order.json",
        ...(object({ a: { $ref: "address.json" } }) as object),
        $defs: { b: { ...address, $id: "/x/address.json" } },
      },
      [],
    ],
    [
      "an id of draft 4",
      {
        id: "http://a.example/x/order.json",
        ...(object({ a: { $ref: "address.json#" } }) as object),
        definitions: { b: { ...address, id: "address.json" } },
      },
      [],
    ],
    ["a name", object({ a: { $ref: "address.json" } }), [referenceTo("address.json", address)]],
    [
      "a name below an $id",
      { $id: "http://a.example/order.json", ...(object({ a: { $ref: "address.json" } }) as object) },
      [referenceTo("address.json", address)],
    ],
    [
      "a name that is an address",
      object({ a: { $ref: "http://b.example/address.json" } }),
      [referenceTo("http://b.example/address.json", address)],
    ],
    [
      "a name that has the pointer, as Apicurio names it",
      object({ a: { $ref: "./all.json#/$defs/address" } }),
      [referenceTo("./all.json#/$defs/address", { $defs: { address } })],
    ],
    ["a name with a pointer", object({ a: { $ref: "all.json#/$defs/address" } }), [referenceTo("all.json", { $defs: { address } })]],
    [
      "a name behind a name",
      object({ a: { $ref: "one.json" } }),
      [referenceTo("two.json", address), referenceTo("one.json", { $ref: "two.json" })],
    ],
    ["a name that is no address", object({ a: { $ref: "com.example.Address" } }), [referenceTo("com.example.Address", address)]],
    [
      "the $id of what is referred to",
      object({ a: { $ref: "urn:x:address" } }),
      [referenceTo("address.json", { ...address, $id: "urn:x:address" })],
    ],
  ])("by %s", (_name, schema, references) => {
    expect(fieldsOf(typeOf(schema, references))["a"]).toMatchObject({ kind: "record", name: "Address", fields: [{ name: "zip" }] });
  });

  test("a pointer leads into its own text, also if another text has the same $id", () => {
    const $id = "http://example.com/myURI.schema.json"; // that of Confluent's example, which many schemas keep
    const line = { $id, type: "object", properties: { price: { $ref: "#/$defs/own" } }, $defs: { own: { type: "integer" } } };
    const order = {
      $id,
      type: "object",
      properties: { line: { $ref: "line.json" }, at: { $ref: "#/$defs/own" } },
      $defs: { own: address },
    };
    const fields = fieldsOf(typeOf(order, [referenceTo("line.json", line)]));
    expect(fields["at"]).toMatchObject({ kind: "record", name: "Address" });
    expect(fieldsOf(fields["line"] as Type)["price"]).toEqual({ kind: "long" });
  });

  test("two references to one schema are one type", () => {
    const { a, b } = fieldsOf(
      typeOf({ ...(object({ a: { $ref: "#/$defs/x" }, b: { $ref: "#/$defs/x", title: "B" } }) as object), $defs: { x: address } }),
    );
    expect(a).toBe(b);
  });

  test("a record may contain itself: directly, as an optional record, and in a list", () => {
    const type = typeOf({
      $ref: "#/$defs/node",
      $defs: {
        node: object({
          next: { anyOf: [{ type: "null" }, { $ref: "#/$defs/node" }] },
          all: { type: "array", items: { $ref: "#/$defs/node" } },
        }),
      },
    });
    const { next, all } = fieldsOf(type);
    expect(withoutNull(next as Type)).toBe(type);
    expect((all as { items?: Type }).items).toBe(type);
  });

  test("an optional record may contain itself", () => {
    const type = typeOf({
      $ref: "#/$defs/node",
      $defs: { node: { oneOf: [{ type: "null" }, object({ next: { $ref: "#/$defs/node" } })] } },
    });
    expect(fieldsOf(withoutNull(type))["next"]).toBe(type);
  });

  test("a list of such lists is read as any JSON value", () => {
    const type = typeOf({ $ref: "#/$defs/tree", $defs: { tree: { type: "array", items: { $ref: "#/$defs/tree" } } } });
    expect(type).toEqual({ kind: "array", items: { kind: "any" } });
  });

  test.each<[string, unknown, readonly SchemaReference[]]>([
    ["itself", { $ref: "#" }, []],
    ["itself through another", { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: { allOf: [{ $ref: "#/$defs/a" }] } } }, []],
    ["itself among alternatives", { anyOf: [{ type: "string" }, { $ref: "#" }] }, []],
    ["nothing", { $ref: "#/$defs/a" }, []],
    ["no anchor", { $ref: "#a" }, []],
    ["an inherited name", { $ref: "#/constructor" }, []],
    ["a schema on the network", { $ref: "http://a.example/a.json" }, []],
    ["a file", { $ref: "file:///etc/passwd" }, []],
    ["a text", { $ref: "#/title", title: "text" }, []],
    ["a schema whose own reference is missing", { $ref: "a.json" }, [referenceTo("a.json", { $ref: "b.json" })]],
  ])("to %s cannot be used", (_name, schema, references) => {
    expect(codeOf(schema, references)).toBe("schema-invalid");
  });
});

describe("hostile schemas", () => {
  test("names like __proto__ are only data", () => {
    const type = typeOf(
      '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"integer"}},"title":"__proto__"}',
    );
    expect((type as RecordType).fields.map(({ name, type: field }) => [name, field.kind])).toEqual([
      ["__proto__", "string"],
      ["constructor", "long"],
    ]);
    const defined = typeOf('{"$ref":"#/$defs/__proto__","$defs":{"__proto__":{"type":"string"}},"connect.parameters":{"__proto__":"1"}}');
    expect(defined).toEqual({ kind: "string" });
    expect(Object.hasOwn(Object.prototype, "type")).toBe(false);
  });

  const chain = (length: number, link: (next: string) => unknown): unknown => ({
    $ref: "#/$defs/0",
    $defs: Object.fromEntries(Array.from({ length }, (_, i) => [`${i}`, i === length - 1 ? { type: "string" } : link(`#/$defs/${i + 1}`)])),
  });

  test.each<[string, unknown]>([
    ["a text longer than the limit", ` ${" ".repeat(limits.maxSchemaChars)}{}`],
    ["lists a hundred thousand deep", `${'{"items":'.repeat(100_000)}{}${"}".repeat(100_000)}`],
    ["a chain of 10,000 references", chain(10_000, (next) => ({ $ref: next }))],
    ["10,000 nested records", chain(10_000, (next) => object({ a: { $ref: next } }))],
    ["200,000 properties", object(Object.fromEntries(Array.from({ length: 200_000 }, (_, i) => [`p${i}`, {}])))],
  ])("%s ends at a limit", (_name, schema) => {
    expect(codeOf(schema)).toBe("limit-exceeded");
  });

  test("schemas that each contain the next one twice are built once", () => {
    expect(typeOf(chain(60, (next) => object({ a: { $ref: next }, b: { $ref: next } }))).kind).toBe("record");
    expect(typeOf(chain(60, (next) => ({ allOf: [{ $ref: next }, { $ref: next }] })))).toEqual({ kind: "string" });
    expect(typeOf(chain(60, (next) => ({ anyOf: [{ $ref: next }, { $ref: next }] })))).toEqual({ kind: "string" });
  });

  test.each<[string, unknown]>([
    ["text that is not JSON", "{"],
    ["a list", "[]"],
    ["null", "null"],
    ["an unknown type", { type: "text" }],
    ["a type that is not a name", { type: 7 }],
    ["properties that are a list", { properties: [] }],
    ["a property that is not a schema", { properties: { a: 1 } }],
    ["items that are not a schema", { type: "array", items: "string" }],
  ])("%s is no schema", (_name, schema) => {
    expect(codeOf(schema)).toBe("schema-invalid");
  });

  test("error messages quote little of the schema", () => {
    try {
      typeOf({ $ref: "x".repeat(10_000) });
    } catch (error) {
      expect((error as Error).message.length).toBeLessThan(400);
    }
  });
});
