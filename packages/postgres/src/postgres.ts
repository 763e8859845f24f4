import type { OffsetCommit, PartitionAssignment, Sink, SinkBatch } from "@cdckit/consumer";
import type { SchemaSeen } from "@cdckit/decode";
import { Checkpoints } from "./checkpoints.ts";
import { fromStatement, PostgresSinkError } from "./errors.ts";
import {
  type PostgresClient,
  type PostgresOptions,
  type PostgresPool,
  type ResolvedPostgresOptions,
  resolvePostgresOptions,
} from "./options.ts";
import { type PendingTable, pendingTables } from "./pending-rows.ts";
import { quoteTable } from "./quote.ts";
import { Tables, type Target } from "./tables.ts";
import { writeRows } from "./write-rows.ts";

/** A sink that writes rows to PostgreSQL. */
export interface PostgresSink extends Sink {
  schemaSeen(seen: SchemaSeen): void;
}

/**
 * A copy of tables in PostgreSQL: rows are written and deleted by their keys, and each partition's offset moves in the same transaction,
 * so that every change is applied once, whoever is killed when. A member that lost a partition is fenced off by the one that claimed it.
 */
export function postgres(options: PostgresOptions = {}): PostgresSink {
  return new RowSink(resolvePostgresOptions(options));
}

class RowSink implements PostgresSink {
  readonly name: string;
  readonly #options: ResolvedPostgresOptions;
  readonly #checkpoints: Checkpoints;
  readonly #tables: Tables;
  #pool: Promise<PostgresPool> | undefined;

  constructor(options: ResolvedPostgresOptions) {
    this.name = options.name;
    this.#options = options;
    this.#tables = new Tables(options);
    this.#checkpoints = new Checkpoints({ schema: options.schema, table: options.checkpointTable, sink: options.name });
  }

  schemaSeen(seen: SchemaSeen): void {
    this.#tables.schemaSeen(seen);
  }

  async claim(groupId: string, assignments: readonly PartitionAssignment[]): Promise<readonly OffsetCommit[]> {
    if (!this.#options.keepsCheckpoints || assignments.length === 0) {
      return [];
    }
    return this.#inTransaction("claiming partitions", async (client) => {
      // Two members that start together must not both create it: the second waits, and finds it there.
      await client.query({ text: "select pg_advisory_xact_lock(hashtext('cdckit checkpoints'))" });
      await this.#checkpoints.create(client);
      return this.#checkpoints.claim(client, groupId, assignments);
    });
  }

  async apply({ assignment, events, nextOffset }: SinkBatch): Promise<void> {
    const tables = pendingTables(events);
    const what = `applying ${assignment.topic}[${assignment.partition}] up to offset ${nextOffset}`;
    await this.#inTransaction(what, async (client) => {
      if (this.#options.keepsCheckpoints) {
        await this.#checkpoints.advance(client, assignment, nextOffset);
      }
      for (const table of tables) {
        await this.#applyTable(client, table);
      }
    });
  }

  async close(): Promise<void> {
    const pool = this.#pool;
    this.#pool = undefined;
    if (this.#options.pool === null) {
      await (await pool)?.end();
    }
  }

  async #applyTable(client: PostgresClient, { table, topic, isTruncated, rows }: PendingTable): Promise<void> {
    const { tableFor, schema } = this.#options;
    const named = tableFor(table);
    if (named === null) {
      return;
    }
    const target: Target = { schema: named.schema ?? schema, name: named.name };
    try {
      if (isTruncated) {
        await client.query({ text: `truncate ${quoteTable(target)}` });
      }
      if (rows.length > 0) {
        await writeRows(client, target, await this.#tables.columnsFor(client, target, topic, rows), rows);
      }
    } catch (error) {
      this.#tables.forget(target);
      throw fromStatement(error, `writing to ${quoteTable(target)}`);
    }
  }

  async #inTransaction<T>(what: string, work: (client: PostgresClient) => Promise<T>): Promise<T> {
    const client = await this.#connect();
    try {
      await client.query({ text: "begin" });
      const result = await work(client);
      await client.query({ text: "commit" });
      client.release();
      return result;
    } catch (error) {
      await rollBack(client);
      throw fromStatement(error, what);
    }
  }

  async #connect(): Promise<PostgresClient> {
    this.#pool ??= this.#options.pool === null ? ownPool(this.#options.connectionString) : Promise.resolve(this.#options.pool);
    try {
      return await (await this.#pool).connect();
    } catch (error) {
      throw fromStatement(error, "connecting");
    }
  }
}

/** A connection whose transaction cannot be ended is closed, and PostgreSQL ends it. */
async function rollBack(client: PostgresClient): Promise<void> {
  try {
    await client.query({ text: "rollback" });
    client.release();
  } catch {
    client.release(true);
  }
}

async function ownPool(connectionString: string | null): Promise<PostgresPool> {
  let pg: typeof import("pg");
  try {
    pg = (await import("pg")).default as unknown as typeof import("pg"); // a CommonJS module: all its names are on the default
  } catch (error) {
    throw new PostgresSinkError("pg-missing", "the package pg cannot be loaded: npm install pg, or give a pool", { cause: error });
  }
  const pool = new pg.Pool(connectionString === null ? {} : { connectionString });
  // An idle connection that breaks is replaced by the pool; without a listener it would end the process.
  pool.on("error", () => {});
  return pool as unknown as PostgresPool; // pg's own types are wider
}
