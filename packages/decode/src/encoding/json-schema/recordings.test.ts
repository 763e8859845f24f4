import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { jsonSchemaValidator } from "@cdckit/json-schema";
import { bytesOf, type WrittenBytes } from "@cdckit/testkit";
import { describe, expect, test } from "vitest";
import { resolveLimits, resolveValidation, resolveValueOptions, type ValidationMode, type ValueOptions } from "../../options.ts";
import { parseConnectSchema } from "../connect-json/schema.ts";
import { JsonReader } from "../json/reader.ts";
import { type CompileOptions, Deferred, readEverything, type ReadPlan } from "../reader.ts";
import type { ParsedSchema } from "../schema-encoding.ts";
import { jsonSchemaOf, jsonSchemaValueOf } from "./connect-schema.contract.ts";
import { jsonSchema } from "./encoding.ts";

const limits = resolveLimits();
const repository = join(import.meta.dirname, "../../../../..");
const linesOf = (path: string): Record<string, unknown>[] => {
  const lines = readFileSync(join(repository, path), "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Record<string, unknown>); // one object a line
};

const compileOptions = (values: ValueOptions, validation: ValidationMode, plan: ReadPlan = readEverything): CompileOptions => ({
  values: resolveValueOptions(values),
  limits,
  plan,
  codeGeneration: true,
  validation: resolveValidation(validation, jsonSchemaValidator),
});

const parse = (schema: unknown): ParsedSchema =>
  jsonSchema.parse({ id: 1, schemaType: "JSON", schema: typeof schema === "string" ? schema : JSON.stringify(schema) }, limits);

describe("Debezium's records, as JsonSchemaConverter would have written them", () => {
  const folder = "packages/testkit/recordings/postgres-debezium-3.5";
  const files = readdirSync(join(repository, folder)).filter((name) => /^(?:tjs|tfs)\./.test(name));
  const envelopePlan: ReadPlan = {
    defer: { field: "source", peek: ["db", "schema", "table"], resolve: (peeked) => peeked },
    skip: ["ts_us", "ts_ns"],
    rows: ["before", "after"],
  };

  test.each(files)("%s gives the same as connect-json", (file) => {
    let count = 0;
    for (const record of linesOf(`${folder}/${file}`)) {
      for (const side of [record["key"], record["value"]].filter((each) => typeof each === "string")) {
        expectSameOutcome(Buffer.from(side, "base64"));
        count++;
      }
    }
    expect(count).toBeGreaterThan(0);
  });

  function expectSameOutcome(message: Buffer): void {
    const { schema, payload } = JSON.parse(message.toString()) as { schema: Parameters<typeof jsonSchemaOf>[0]; payload: unknown };
    const text = message.toString();
    const connectType = parseConnectSchema(schema, "", 64);
    const parsed = parse(jsonSchemaOf(schema));
    expect(parsed.typeOf(null)).toEqual(withoutDefaults(connectType));
    // Numbers keep their text, because JSON.parse would change what the converter writes.
    const written = Buffer.from(text.slice(text.indexOf('"payload":') + '"payload":'.length, -1));
    expect(JSON.parse(written.toString())).toEqual(payload);
    for (const values of [{}, { int64: "bigint", decimal: "number", time: "date", bits: "bytes" }] satisfies ValueOptions[]) {
      for (const [validation, plan] of [
        ["off", readEverything],
        ["off", envelopePlan],
        ["on", envelopePlan],
      ] as const) {
        const reader = parsed.compile(null, compileOptions(values, validation, plan));
        const twin = new JsonReader("connect-json", connectType, { ...compileOptions(values, "off", plan), isRanged: true });
        const read = reader.read(written, 0, written.length);
        expect(plain(read)).toStrictEqual(plain(twin.read(written, 0, written.length)));
      }
    }
  }

  /** Defaults are read of Connect's own schemas alone. */
  function withoutDefaults(type: unknown): unknown {
    if (Array.isArray(type)) {
      return type.map(withoutDefaults);
    }
    if (typeof type !== "object" || type === null) {
      return type;
    }
    return Object.fromEntries(
      Object.entries(type)
        .filter(([name]) => name !== "defaultValue")
        .map(([name, part]) => [name, withoutDefaults(part)]),
    );
  }

  function plain(value: unknown): unknown {
    if (typeof value !== "object" || value === null || !("source" in value) || !(value.source instanceof Deferred)) {
      return value;
    }
    return { ...value, source: [value.source.peeked, value.source.value] };
  }

  test("the text of a Connect struct is read in place, in the order of connect.index", () => {
    const [record] = linesOf(`${folder}/tjs.inv.alltypes.ndjson`).filter((each) => each["value"] !== null);
    const text = Buffer.from(record?.["value"] as string, "base64").toString();
    const { schema } = JSON.parse(text) as { schema: Parameters<typeof jsonSchemaOf>[0] };
    const written = Buffer.from(text.slice(text.indexOf('"payload":') + '"payload":'.length, -1));
    const reader = parse(jsonSchemaOf(schema)).compile(null, compileOptions({}, "off"));
    expect(typeof (reader as JsonReader).readFast(written, 0, written.length)).toBe("object");
  });
});

test("maps whose keys are not texts are read like the pairs of connect-json", () => {
  const schema = {
    type: "struct",
    fields: [
      { field: "byDay", type: "map", keys: { type: "int32", name: "io.debezium.time.Date" }, values: { type: "string", optional: true } },
      { field: "byText", type: "map", keys: { type: "string" }, values: { type: "int64" } },
      { field: "byOptionalText", type: "map", keys: { type: "string", optional: true }, values: { type: "bytes" } },
    ],
  };
  const value = {
    byDay: [
      [1, "a"],
      [2, null],
    ],
    byText: { a: 1 },
    byOptionalText: [
      ["a", "AQ=="],
      [null, "Ag=="],
    ],
  };
  const pairs = Buffer.from(JSON.stringify(value));
  const objects = Buffer.from(JSON.stringify(jsonSchemaValueOf(schema, value)));
  const twin = new JsonReader("connect-json", parseConnectSchema(schema, "", 64), { ...compileOptions({}, "off"), isRanged: true });
  const reader = parse(jsonSchemaOf(schema)).compile(null, compileOptions({}, "on"));
  expect(reader.read(objects, 0, objects.length)).toStrictEqual(twin.read(pairs, 0, pairs.length));
});

interface ConfluentVector {
  readonly name: string;
  readonly schemaId: number;
  readonly message: WrittenBytes;
  readonly schema: string;
  readonly references: readonly { readonly name: string; readonly schema: string }[];
  readonly isValid: boolean;
  readonly value: unknown;
}

describe("messages that Confluent's JSONSerializer wrote", () => {
  const vectors = linesOf("test/vectors/json-schema/confluent.ndjson") as unknown as ConfluentVector[];

  test.each(vectors)("$name", ({ schema, schemaId, references, message: written, value, isValid }) => {
    const message = bytesOf(written);
    expect([message[0], message.readUInt32BE(1)]).toEqual([0, schemaId]);
    const parsed = jsonSchema.parse({ id: schemaId, schemaType: "JSON", schema, references }, limits);
    const read = (validation: ValidationMode): unknown =>
      parsed.compile(null, compileOptions({}, validation)).read(message, 5, message.length);
    expect(withPlainMaps(read("off"))).toEqual(untagged(value));
    if (isValid) {
      expect(withPlainMaps(read("on"))).toEqual(untagged(value));
    } else {
      expect(() => read("on")).toThrow(/^\[value-invalid\] expected a value that its JSON Schema allows/);
    }
  });
});

const entriesOf = (value: object, map: (item: unknown) => unknown): object =>
  Object.fromEntries(Object.entries(value).map(([name, item]) => [name, map(item)]));

function untagged(value: unknown): unknown {
  if (Array.isArray(value) || typeof value !== "object" || value === null) {
    return Array.isArray(value) ? value.map(untagged) : value;
  }
  return "$bigint" in value ? BigInt(value.$bigint as string) : entriesOf(value, untagged);
}

/** Maps have no prototype, and the comparison would fail on that. */
function withPlainMaps(value: unknown): unknown {
  if (Array.isArray(value) || typeof value !== "object" || value === null) {
    return Array.isArray(value) ? value.map(withPlainMaps) : value;
  }
  return entriesOf(value, withPlainMaps);
}
