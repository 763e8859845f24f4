import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type CdcEvent, columnHintsOf, createDecoder, describeSchema, semanticTypes, type Type, UNAVAILABLE } from "@cdckit/decode";
import { fromBundle, fromBundleText } from "@cdckit/registry";
import { bundledRecordings, loadRecording, recordOf } from "@cdckit/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { declarationsOf } from "./declarations.ts";
import { inferredType } from "./inferred-type.ts";
import { patternOf, type SeenTable, SeenTables } from "./seen-tables.ts";
import { rowInterface, type ValueChoices, valueType } from "./value-type.ts";

const values: ValueChoices = { int64: "safe", decimal: "string", time: "iso", json: "text", bits: "string" };
const options = { values, importFrom: "@cdckit/decode", withUnavailable: true };
const root = fileURLToPath(new URL("../../../../", import.meta.url));
const compiler = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");

let folder: string;

beforeAll(async () => {
  const cache = join(root, "node_modules/.cache");
  await mkdir(cache, { recursive: true });
  folder = await mkdtemp(join(cache, "types-"));
});

afterAll(async () => {
  await rm(folder, { recursive: true });
});

/** A decoded value as an expression of TypeScript: what the compiler then holds against the written types. */
function expression(value: unknown): string {
  if (value === UNAVAILABLE) {
    return "UNAVAILABLE";
  }
  if (typeof value === "bigint" || typeof value === "number") {
    return typeof value === "bigint"
      ? `${value}n`
      : Number.isFinite(value)
        ? String(value)
        : `Number.${Number.isNaN(value) ? "NaN" : "POSITIVE_INFINITY"}`;
  }
  if (Buffer.isBuffer(value)) {
    return `Buffer.from(${JSON.stringify(value.toString("hex"))}, "hex")`;
  }
  if (Array.isArray(value)) {
    return `[${value.map(expression).join()}]`;
  }
  if (value instanceof Map) {
    return `new Map([${[...value].map(([key, item]) => `[${expression(key)}, ${expression(item)}]`).join()}])`;
  }
  return typeof value === "object" && value !== null
    ? `{${Object.entries(value)
        .map(([name, item]) => `${JSON.stringify(name)}: ${expression(item)}`)
        .join()}}`
    : JSON.stringify(value);
}

async function compile(text: string): Promise<string> {
  const file = join(folder, "rows.ts");
  await writeFile(file, text);
  const flags = [
    "--ignoreConfig",
    "--noEmit",
    "--strict",
    "--module",
    "nodenext",
    "--target",
    "es2023",
    "--types",
    "node",
    "--skipLibCheck",
  ];
  return promisify(execFile)(process.execPath, [compiler, ...flags, "--allowImportingTsExtensions", file], { cwd: root }).then(
    () => "",
    (error: { stdout: string }) => error.stdout,
  );
}

/** The event's row and key, as constants of the types that were written for its table. Rows of a table that changed have older columns. */
function assignments(event: CdcEvent, topic: string): string[] {
  if ((event.kind !== "change" && event.kind !== "row") || event.table === null || topic.includes("evolve")) {
    return [];
  }
  const table = `rows.Tables[${JSON.stringify(`${topic}.${patternOf(event.table).replaceAll(".", "_")}`)}]`;
  const row = event.kind === "row" ? event.row : event.after;
  return row === null
    ? []
    : [`{ const row: ${table}["row"] = ${expression(row)}; }`, `{ const key: ${table}["key"] | null = ${expression(event.key)}; }`];
}

test("the rows of every recorded table are of the types that are written for it", async () => {
  const lines = ['import { UNAVAILABLE } from "@cdckit/decode";', 'import type * as rows from "./tables.ts";'];
  const every: SeenTable[] = [];
  const statements: string[] = [];
  for (const [i, { name, file, schemasFile }] of bundledRecordings().entries()) {
    const schemas = fromBundle(schemasFile);
    const seen = new SeenTables(schemas);
    const records = (await loadRecording(file)).slice(0, 60);
    for (const record of records) {
      await seen.add(record, () => true);
    }
    // One table stands in many topics: each topic's own types are written here.
    for (const table of seen.tables()) {
      every.push({
        ...table,
        table: { schema: `r${i}_${name.replaceAll(/\W/g, "_")}`, name: patternOf(table.table).replaceAll(".", "_") },
      });
    }
    const decoder = createDecoder({ schemas });
    for (const record of records) {
      const events = await decoder.decode(record);
      statements.push(...events.flatMap((event) => assignments(event, `r${i}_${name.replaceAll(/\W/g, "_")}`)));
    }
  }
  await writeFile(join(folder, "tables.ts"), declarationsOf(every, options));
  expect(statements.length).toBeGreaterThan(400);
  expect(await compile([...lines, ...statements].join("\n"))).toBe("");
  // The compiler does look: a wrong row is refused.
  const wrong = statements.map((statement) => statement.replace(/"id": \d+n?/, '"id": "one"'));
  expect(await compile([...lines, ...wrong].join("\n"))).toContain("TS2322");
});

test("tables of one topic each have their own types", async () => {
  const seen = new SeenTables(undefined);
  for (const [table, column] of [
    ["orders", "total"],
    ["customers", "name"],
    ["orders", "total"],
  ] as const) {
    const row = { type: "struct", optional: true, field: "after", fields: [{ field: column, type: "string", optional: true }] };
    const text = { type: "string", optional: false };
    const source = { type: "struct", optional: false, field: "source", fields: [{ ...text, field: "table" }] };
    const schema = { type: "struct", optional: false, name: `s.${table}.Envelope`, fields: [row, source, { ...text, field: "op" }] };
    const value = JSON.stringify({ schema, payload: { after: { [column]: "x" }, source: { table }, op: "c" } });
    await seen.add(recordOf(value, { topic: "all" }), () => true);
  }
  const columns = seen.tables().map(({ table, row }) => [table.name, row?.kind === "record" ? row.fields.map(({ name }) => name) : null]);
  expect(columns).toEqual([
    ["customers", ["name"]],
    ["orders", ["total"]],
  ]);
});

describe("types of values", () => {
  const decimal = { kind: "bytes", semantic: { name: "org.apache.kafka.connect.data.Decimal", parameters: { scale: "2" } } } as const;
  const time = { kind: "long", semantic: { name: "io.debezium.time.MicroTimestamp", parameters: {} } } as const;

  test.each([
    [{ kind: "long" } as const, {}, "number | bigint"],
    [{ kind: "long" } as const, { int64: "string" }, "string"],
    [decimal, {}, "string"],
    [decimal, { decimal: "number" }, "number"],
    [time, {}, "string"],
    [time, { time: "raw", int64: "bigint" }, "bigint"],
    [{ kind: "array", items: { kind: "union", branches: [{ kind: "null" }, { kind: "int" }] } } as const, {}, "readonly (number | null)[]"],
    [{ kind: "map", keys: null, values: { kind: "double" } } as const, {}, "Readonly<Record<string, number>>"],
    [{ kind: "map", keys: { kind: "int" }, values: { kind: "string" } } as const, {}, "ReadonlyMap<number, string>"],
    [{ kind: "long", semantic: { name: "tidb.bigint unsigned", parameters: {} } } as const, { int64: "string" }, "string"],
    [{ kind: "bytes", semantic: { name: "tidb.bit", parameters: { length: "10" } } } as const, {}, "string"],
    [{ kind: "bytes", semantic: { name: "tidb.bit(1)", parameters: { length: "1" } } } as const, {}, "boolean"],
    [{ kind: "string", semantic: { name: "tidb.bytes", parameters: {} } } as const, {}, "Buffer"],
    [{ kind: "string", semantic: { name: "tidb.datetime", parameters: {} } } as const, {}, "string"],
    [{ kind: "union", branches: [{ kind: "null" }, { kind: "any" }] } as const, {}, "unknown"],
  ])("%j with %j", (type, choices, expected) => {
    expect(valueType(type, { ...values, ...choices } as ValueChoices)).toBe(expected);
  });

  test("names of columns are names, whatever they hold", () => {
    const fields = ["id", "two words", "__proto__", "a: string }; evil(); interface B { b", "*/"].map((name) => ({
      name,
      type: { kind: "int" } as const,
    }));
    const text = rowInterface("Row", { kind: "record", name: null, fields }, values, false);
    expect(text.split("\n")).toEqual([
      "export interface Row {",
      "  readonly id: number;",
      '  readonly "two words": number;',
      "  readonly __proto__: number;",
      '  readonly "a: string }; evil(); interface B { b": number;',
      '  readonly "*/": number;',
      "}",
      "",
    ]);
  });

  test("names and symbols that move the cursor, or turn the direction of text, are escaped", async () => {
    const type = {
      kind: "record",
      name: null,
      fields: [{ name: "a\u009b2J\u007f", type: { kind: "enum", symbols: ["b\u202e", "c\u2066\u0085"] } as const }],
    } as const;
    const row = rowInterface("Row", type, values, false);
    expect(row).toContain(String.raw`readonly "a\u009b2J\u007f": "b\u202e" | "c\u2066\u0085";`);
    const table: SeenTable = { table: { name: "t\u202e" }, row: type, key: null, inferredFrom: null, isDebezium: false };
    expect(declarationsOf([table], options)).toContain(String.raw`readonly "t\u202e": `);
  });

  test("rows without a schema show what they hold", () => {
    const type = inferredType([
      { a: 1, b: "x", c: 1 },
      { a: 9007199254740993n, b: null, c: "y" },
      { a: 2, b: UNAVAILABLE, d: true },
    ]);
    expect(rowInterface("Row", type, values, false).split("\n").slice(1, 5)).toEqual([
      "  readonly a: number | bigint;",
      "  readonly b: string | null;",
      "  readonly c: unknown;",
      "  readonly d: boolean | null;",
    ]);
  });
});

describe("records of an Avro schema", () => {
  interface AvroRecord {
    readonly type: "record";
    readonly name: string;
    readonly fields: readonly object[];
  }

  const record = (name: string, fields: Readonly<Record<string, unknown>>): AvroRecord => ({
    type: "record",
    name,
    fields: Object.entries(fields).map(([field, type]) => ({ name: field, type })),
  });

  /** Of the rows of a Debezium change event. */
  async function textOf(value: AvroRecord): Promise<string> {
    const source = record("Source", { connector: "string", db: "string", table: "string", ts_ms: "long" });
    const fields = { before: ["null", value], after: ["null", value.name], source, op: "string", ts_ms: ["null", "long"] };
    const schema = { ...record("Envelope", fields), namespace: "shop.orders" };
    const schemas = fromBundleText(JSON.stringify({ id: 1, schemaType: "AVRO", schema: JSON.stringify(schema) }));
    const { row } = await describeSchema(await schemas.load(1), { topic: "shop.orders", side: "value" });
    const table: SeenTable = { table: { schema: "shop", name: "orders" }, row, key: null, inferredFrom: null, isDebezium: false };
    return declarationsOf([table], options);
  }

  test("that come once stand in their place", async () => {
    const address = record("Address", { city: "string", zip: ["null", "int"] });
    expect(
      (await textOf(record("Order", { id: "int", to: ["null", address], tags: { type: "array", items: "string" } }))).split("\n"),
    ).toEqual([
      "// Written by `cdc-bench types`. Do not edit: run it again.",
      "",
      "export interface ShopOrders {",
      "  readonly id: number;",
      "  readonly to: { readonly city: string; readonly zip: number | null } | null;",
      "  readonly tags: readonly string[];",
      "}",
      "",
      "/** For `createConsumer<Tables>(...)`: `on` knows the rows of each table. */",
      "export interface Tables {",
      '  readonly "shop.orders": { readonly row: ShopOrders; readonly key: unknown };',
      "}",
      "",
    ]);
  });

  test("that come more than once, or hold themselves, have an interface each", async () => {
    const address = record("Address", { city: "string", careOf: ["null", "Address"] });
    const text = await textOf(record("Order", { from: address, to: ["null", "Address"], after: ["null", "Order"] }));
    expect(text.split("\n").slice(2, 19)).toEqual([
      "export interface ShopOrders {",
      "  readonly from: ShopOrdersAddress;",
      "  readonly to: ShopOrdersAddress | null;",
      "  readonly after: ShopOrdersOrder | null;",
      "}",
      "",
      "export interface ShopOrdersAddress {",
      "  readonly city: string;",
      "  readonly careOf: ShopOrdersAddress | null;",
      "}",
      "",
      "export interface ShopOrdersOrder {",
      "  readonly from: ShopOrdersAddress;",
      "  readonly to: ShopOrdersAddress | null;",
      "  readonly after: ShopOrdersOrder | null;",
      "}",
      "",
    ]);
    expect(await compile(text)).toBe("");
  });

  test("are written in a text as long as their schema, however often they hold each other", async () => {
    const depth = 40;
    let nested = record("R0", { id: "int" });
    for (let i = 1; i <= depth; i++) {
      nested = record(`R${i}`, { one: nested, other: `R${i - 1}` });
    }
    const text = await textOf(nested);
    expect(text.match(/^export interface ShopOrders/gm)).toHaveLength(depth + 1);
    expect(text).toContain("  readonly one: ShopOrdersR39;\n  readonly other: ShopOrdersR39;\n");
    expect(text.length).toBeLessThan(10_000);
  });
});

describe("a hint", () => {
  const semanticOf = (name: string): { readonly name: string; readonly parameters: Readonly<Record<string, string>> } => ({
    name,
    parameters: { scale: "2", allowed: "a,b" },
  });

  test.each(semanticTypes)("of the type %s has a TypeScript type, however its values were sent", (name) => {
    const semantic = semanticOf(name);
    const sent: readonly Type[] = [
      { kind: "boolean", semantic },
      { kind: "double", semantic },
    ];
    const [one, other] = sent.map((type) => valueType(type, values));
    expect(other).toBe(one);
  });

  test("of an enum has the commas of its members", () => {
    const semantic = { name: "io.debezium.data.Enum", parameters: { allowed: "sad,happy\\, very," } };
    expect(valueType({ kind: "string", semantic }, values)).toBe('"sad" | "happy, very" | ""');
  });

  test.each(semanticTypes)("of the type %s is written, and taken by a decoder", (name) => {
    const fields = [{ name: "c", type: { kind: "string", semantic: semanticOf(name) } as const }];
    const columns = columnHintsOf({ kind: "record", name: null, fields });
    expect(columns).toHaveProperty("c");
    expect(() => createDecoder({ topics: { t: { columns } } })).not.toThrow();
  });

  test("is not written for a type that no decoder knows", () => {
    const own = { kind: "string", semantic: semanticOf("shop.Sku") } as const;
    const decimal = { kind: "string", semantic: { name: "org.apache.kafka.connect.data.Decimal", parameters: {} } } as const;
    const fields = [
      { name: "sku", type: own },
      { name: "price", type: decimal },
    ];
    expect(columnHintsOf({ kind: "record", name: null, fields })).toEqual({});
  });
});
