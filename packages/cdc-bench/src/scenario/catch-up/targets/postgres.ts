import type { Sink } from "@cdckit/consumer";
import { BenchError } from "../../../bench-error.ts";
import { openDatabase } from "../../../load/database.ts";
import type { DeliveryKind, OpenTarget } from "../target.ts";
import { meteredSink } from "./metered-sink.ts";

export interface PostgresTargetOptions {
  readonly url: string;
  /** It exists, and is empty. */
  readonly schema: string;
  readonly delivery: DeliveryKind;
}

/** Copies tables into a schema of a database, with the sink of `@cdckit/postgres`. */
export async function postgresTarget({ url, schema, delivery }: PostgresTargetOptions): Promise<OpenTarget> {
  const { postgres } = await loadSink();
  const newSink = (): Sink & { schemaSeen: NonNullable<Sink["schemaSeen"]> } =>
    postgres({ connectionString: url, schema, create: true, widen: true, delivery });
  let sink = newSink();
  return {
    name: "postgres",
    delivery,
    attach(consumer, _, meter) {
      consumer.to(meteredSink(sink, meter));
    },
    schemaSeen: (seen) => sink.schemaSeen(seen),
    async check({ rows }) {
      const database = await openDatabase(url);
      try {
        return { what: "rows in PostgreSQL", found: await countRows(database, schema), expected: rows };
      } finally {
        await database.close();
      }
    },
    close: async () => {
      await sink.close();
      sink = newSink();
    },
  };
}

async function countRows(database: Awaited<ReturnType<typeof openDatabase>>, schema: string): Promise<number> {
  const tables = await database.query(
    "select table_name as name from information_schema.tables where table_schema = $1 and table_name <> 'cdckit_checkpoints'",
    [schema],
  );
  let rows = 0;
  for (const { name } of tables) {
    const quoted = [schema, String(name)].map((part) => `"${part.replaceAll('"', '""')}"`).join(".");
    const [counted] = await database.query(`select count(*)::int as n from ${quoted}`);
    rows += Number(counted?.["n"] ?? 0);
  }
  return rows;
}

/** An optional package: who drains into a handler needs none. */
async function loadSink(): Promise<typeof import("@cdckit/postgres")> {
  try {
    return await import("@cdckit/postgres");
  } catch (cause) {
    throw new BenchError("usage", "to write into PostgreSQL the sink is needed: npm install @cdckit/postgres pg.", { cause });
  }
}
