import type { SchemaSeen, TableName } from "@cdckit/decode";
import { describe, expect, test } from "vitest";
import { Tables } from "./tables.ts";
import { sourceName } from "./targets.ts";
import type { Statements } from "./transaction.ts";

const target = { schema: "public", name: "lines" };
const table = { schema: "public", name: "lines" };
const sources = new Map([[sourceName(table), table]]);
const rows = [{ key: { id: 1 }, row: { id: 1, n: 1 }, isNew: false }] as never;

function schemaWith(type: "float" | "double"): SchemaSeen {
  const fields = [
    { name: "id", type: { kind: "int" } },
    { name: "n", type: { kind: type } },
  ];
  return schemaOf(fields);
}

function schemaOf(fields: readonly object[]): SchemaSeen {
  return { topic: "lines", side: "value", table, row: { kind: "record", name: "Row", fields } } as never;
}

/** The statement that makes a table of these fields where there is none. */
async function creationOf(tables: Tables, fields: readonly object[]): Promise<string | undefined> {
  const asked: string[] = [];
  const statements: Statements = {
    query: async ({ text }) => {
      asked.push(text);
      return { rows: [], rowCount: null };
    },
    labelled: () => statements,
  };
  tables.schemaSeen(schemaOf(fields));
  await tables.columnsFor(statements, { target, sources, rows });
  return asked.find((text) => text.startsWith("create table"));
}

/** A table as the transactions of a pool see it: what one of them alters, the others see when it is committed. */
class Database {
  committed = "real";

  transaction(): Statements & { commit(): void; readonly asked: string[] } {
    let own: string | null = null;
    const asked: string[] = [];
    const transaction = {
      asked,
      query: async ({ text }: { readonly text: string }) => {
        asked.push(text);
        own = /alter column "n" type (.+)/.exec(text)?.[1] ?? own;
        const present = [
          { name: "id", type: "integer", generated: "" },
          { name: "n", type: own ?? this.committed, generated: "" },
        ];
        return { rows: text.includes("pg_attribute") ? present : [], rowCount: null };
      },
      labelled: () => transaction,
      commit: () => {
        this.committed = own ?? this.committed;
      },
    };
    return transaction;
  }
}

async function typeOfN(tables: Tables, statements: Statements): Promise<string | undefined> {
  const { columns } = await tables.columnsFor(statements, { target, sources, rows });
  return columns.get("n")?.type;
}

describe("a type is widened while other partitions of the topic are written", () => {
  async function withOldType(): Promise<{ readonly tables: Tables; readonly database: Database }> {
    const [tables, database] = [new Tables({ create: true, widen: true }), new Database()];
    tables.schemaSeen(schemaWith("float"));
    expect(await typeOfN(tables, database.transaction())).toBe("real");
    return { tables, database };
  }

  test("until the change is committed, every batch looks at the table", async () => {
    const { tables, database } = await withOldType();
    tables.schemaSeen(schemaWith("double"));
    const first = database.transaction();
    expect(await typeOfN(tables, first)).toBe("double precision");
    const second = database.transaction();
    // PostgreSQL lets it wait for the first one's lock, and then it finds the table altered.
    expect(await typeOfN(tables, second)).toBe("double precision");
    expect(second.asked.join(";")).toContain("pg_advisory_xact_lock");
    first.commit();
    tables.forget(target);
    const third = database.transaction();
    expect(await typeOfN(tables, third)).toBe("double precision");
    expect(third.asked).toHaveLength(1);
    const fourth = database.transaction();
    expect([await typeOfN(tables, fourth), fourth.asked]).toEqual(["double precision", []]);
  });

  test("an old schema that another partition reads later takes nothing back", async () => {
    const { tables, database } = await withOldType();
    tables.schemaSeen(schemaWith("double"));
    tables.schemaSeen(schemaWith("float"));
    expect(await typeOfN(tables, database.transaction())).toBe("double precision");
  });

  test("a look that began before the new schema does not end the looking", async () => {
    const { tables, database } = await withOldType();
    tables.forget(target);
    const looking = typeOfN(tables, database.transaction());
    tables.schemaSeen(schemaWith("double"));
    expect(await looking).toBe("real");
    expect(await typeOfN(tables, database.transaction())).toBe("double precision");
  });
});

test("a table whose types are narrower is left alone without widen, and nobody waits for others", async () => {
  const [tables, database] = [new Tables({ create: true, widen: false }), new Database()];
  tables.schemaSeen(schemaWith("double"));
  const first = database.transaction();
  expect([await typeOfN(tables, first), first.asked.length]).toEqual(["real", 1]);
});

test("a key of JSON is jsonb in a table that is made, because PostgreSQL has no index of json", async () => {
  const json = { kind: "string", semantic: { name: "io.debezium.data.Json", parameters: {} } };
  const fields = [
    { name: "id", type: json },
    { name: "n", type: json },
  ];
  expect(await creationOf(new Tables({ create: true, widen: false }), fields)).toBe(
    `create table if not exists "public"."lines" ("id" jsonb, "n" json, primary key ("id"))`,
  );
});

test("a table that is made has the defaults of its columns: rows of before a column may come after the schema that has it", async () => {
  const fields = [
    { name: "id", type: { kind: "int" }, defaultValue: 0 },
    { name: "n", type: { kind: "int" } },
    { name: "added", type: { kind: "string" }, defaultValue: "it's" },
  ];
  expect(await creationOf(new Tables({ create: true, widen: true }), fields)).toBe(
    `create table if not exists "public"."lines" ("id" integer, "n" integer, "added" text default 'it''s', primary key ("id"))`,
  );
});

test("source tables that are written to one table share what is known of it: a further shard costs no look, and a schema of each counts", async () => {
  const [tables, database] = [new Tables({ create: true, widen: true }), new Database()];
  const shard = (n: number): TableName => ({ schema: `shard_${n}`, name: "lines" });
  const see = (n: number, type: "float" | "double"): void => tables.schemaSeen({ ...schemaWith(type), table: shard(n) });
  const write = async (n: number): Promise<readonly string[]> => {
    const statements = database.transaction();
    await tables.columnsFor(statements, { target, sources: new Map([[sourceName(shard(n)), shard(n)]]), rows });
    statements.commit();
    return statements.asked;
  };
  see(1, "float");
  expect(await write(1)).toHaveLength(1);
  for (let n = 2; n < 100; n++) {
    see(n, "float");
    expect(await write(n)).toEqual([]);
  }
  see(100, "double");
  expect((await write(100)).join(";")).toContain('alter column "n" type double precision');
  tables.forget(target);
  await write(100);
  see(7, "float");
  expect(await write(7)).toEqual([]);
  see(8, "double");
  expect(await write(9)).toEqual([]);
  tables.schemaSeen({ ...schemaOf([{ name: "more", type: { kind: "long" } }]), table: shard(9) });
  expect((await write(8)).join(";")).toContain('add column if not exists "more" bigint');
});
