import { describe, expect, test } from "vitest";
import { parseAvroSchema } from "../encoding/avro/schema.ts";
import type { SchemaChangeEvent, TableName } from "../event.ts";
import { limitDefaults } from "../options.ts";
import { learnedFromKey, SchemaChangeLearner, type SchemaChangeLearnerOptions } from "./learned-columns.ts";
import { eventOf } from "./stream.contract.ts";

interface Change {
  readonly connector: string;
  readonly id: string;
  readonly type?: string;
  readonly columns?: readonly Readonly<Record<string, unknown>>[] | null;
  readonly server?: string;
}

function schemaChange({ connector, id, type = "CREATE", columns = [], server = "server" }: Change): SchemaChangeEvent {
  const event = eventOf(
    server,
    { databaseName: "inventory" },
    {
      source: { connector, name: server, ts_ms: 1 },
      ts_ms: 1,
      databaseName: "inventory",
      schemaName: null,
      ddl: "...",
      tableChanges: [{ type, id, table: columns === null ? null : { columns } }],
    },
  );
  if (event.kind !== "schema-change") {
    throw new Error(`the record is a ${event.kind}`);
  }
  return event;
}

const columns = [
  { name: "id", typeName: "int4", length: 10, scale: 0 },
  { name: "created", typeName: "timestamp", length: 29, scale: 6 },
  { name: "seen", typeName: "timestamptz", length: 35, scale: 6 },
  { name: "price", typeName: "numeric", length: 10, scale: 2 },
];

function learnedNames(change: Change, table: TableName, options?: SchemaChangeLearnerOptions): unknown {
  const learner = new SchemaChangeLearner(options);
  learner.learn(schemaChange(change));
  const learned = learner.columnsOf(table);
  return learned === null ? null : Object.fromEntries([...learned].map(([name, semantic]) => [name, semantic.name.split(".").at(-1)]));
}

describe("a key's schema", () => {
  test("teaches the meaning of its columns, if they have one", () => {
    const schema = {
      type: "record",
      name: "Key",
      fields: [
        { name: "id", type: "int" },
        { name: "day", type: ["null", { type: "int", "connect.name": "io.debezium.time.Date" }] },
      ],
    };
    const learned = learnedFromKey(parseAvroSchema(JSON.stringify(schema), [], limitDefaults));
    expect([...learned]).toEqual([["day", { name: "io.debezium.time.Date", parameters: {} }]]);
    expect(learnedFromKey({ kind: "int" }).size).toBe(0);
  });
});

describe("a schema change", () => {
  const table = { database: "inventory", schema: "public", name: "orders" };

  test("teaches meanings that are the same in every mode, and the others if the modes are stated", () => {
    const change = { connector: "postgresql", id: `"public"."orders"`, columns };
    expect(learnedNames(change, table)).toEqual({ seen: "ZonedTimestamp" });
    expect(learnedNames(change, table, { modes: { decimal: "precise" } })).toEqual({ seen: "ZonedTimestamp", price: "Decimal" });
    expect(learnedNames(change, table, { modes: "default" })).toEqual({
      created: "MicroTimestamp",
      seen: "ZonedTimestamp",
      price: "Decimal",
    });
  });

  test.each([
    ["postgresql", `"public"."orders"`, table],
    ["postgresql", `inventory.public.orders`, table],
    ["sqlserver", `"inventory"."dbo"."odd ""name"". of"`, { database: "inventory", schema: "dbo", name: `odd "name". of` }],
    ["mysql", `"inventory"."orders"`, { database: "inventory", name: "orders" }],
    ["mysql", "orders", { database: "inventory", name: "orders" }],
  ])("of %s names its table %s", (connector, id, named) => {
    expect(learnedNames({ connector, id, columns }, named)).not.toBeNull();
  });

  test("replaces what was learned, and a dropped table is forgotten", () => {
    const learner = new SchemaChangeLearner();
    const id = `"public"."orders"`;
    learner.learn(schemaChange({ connector: "postgresql", id, columns }));
    learner.learn(schemaChange({ connector: "postgresql", id, type: "ALTER", columns: [{ name: "doc", typeName: "jsonb" }] }));
    expect([...(learner.columnsOf(table) ?? [])].map(([name]) => name)).toEqual(["doc"]);
    learner.learn(schemaChange({ connector: "postgresql", id, type: "DROP", columns: null }));
    expect(learner.columnsOf(table)).toBeNull();
  });

  test("teaches only the rows of its own server, and rows that name no server if one server alone has the table", () => {
    const learner = new SchemaChangeLearner();
    const scaled = (server: string, typeName: string, type = "CREATE"): SchemaChangeEvent =>
      schemaChange({
        connector: "mysql",
        id: "inventory.orders",
        server,
        type,
        columns: type === "DROP" ? null : [{ name: "a", typeName }],
      });
    const orders = { database: "inventory", name: "orders" };
    const learned = (server?: string): unknown => learner.columnsOf(orders, server)?.get("a")?.name ?? null;
    learner.learn(scaled("first", "JSON"));
    expect([learned("first"), learned("second"), learned()]).toEqual(["io.debezium.data.Json", null, "io.debezium.data.Json"]);
    learner.learn(scaled("second", "DATE"));
    expect([learned("first"), learned("second"), learned()]).toEqual(["io.debezium.data.Json", "io.debezium.time.Date", null]);
    learner.learn(scaled("second", "", "DROP"));
    expect([learned("first"), learned("second"), learned()]).toEqual(["io.debezium.data.Json", null, "io.debezium.data.Json"]);
  });

  test("of one table too many replaces the oldest, and a table with too many columns teaches nothing", () => {
    const learner = new SchemaChangeLearner({ maxTables: 1, maxColumns: 4 });
    learner.learn(schemaChange({ connector: "postgresql", id: "public.orders", columns }));
    learner.learn(schemaChange({ connector: "postgresql", id: "public.customers", columns }));
    expect([learner.columnsOf(table), learner.columnsOf({ ...table, name: "customers" })?.size]).toEqual([null, 1]);
    learner.learn(schemaChange({ connector: "postgresql", id: "public.customers", columns: [...columns, ...columns] }));
    expect(learner.columnsOf({ ...table, name: "customers" })).toBeNull();
  });

  test("that is malformed teaches nothing", () => {
    const learner = new SchemaChangeLearner();
    learner.learn(schemaChange({ connector: "postgresql", id: "", columns }));
    learner.learn(
      schemaChange({
        connector: "postgresql",
        id: "public.orders",
        columns: [
          { name: 1, typeName: "jsonb" },
          { name: "a", typeName: 7 },
        ],
      }),
    );
    expect(learner.columnsOf(table)?.size).toBe(0);
  });
});
