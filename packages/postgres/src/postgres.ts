import process from "node:process";
import type { OffsetCommit, PartitionAssignment, Sink, SinkBatch } from "@cdckit/consumer";
import type { SchemaSeen } from "@cdckit/decode";
import { Checkpoints } from "./checkpoints.ts";
import { isConflict } from "./errors.ts";
import { hostOf } from "./host.ts";
import { type PostgresOptions, type PostgresPool, type ResolvedPostgresOptions, resolvePostgresOptions } from "./options.ts";
import { ownPool } from "./own-pool.ts";
import { type ChangedTables, type PendingTable, pendingTables } from "./pending-rows.ts";
import { quoteTable } from "./quote.ts";
import { Tables, type Target } from "./tables.ts";
import { Targets } from "./targets.ts";
import { type Statements, Transactions } from "./transaction.ts";
import { writeRows } from "./write-rows.ts";
import { bindMethods } from "./bind-methods.ts";

/** A sink that writes rows to PostgreSQL. */
export interface PostgresSink extends Sink {
  /** Tells the sink the schema of a table, for `create` and `widen`. A consumer calls it by itself. */
  schemaSeen(seen: SchemaSeen): void;
}

/**
 * A copy of tables in PostgreSQL. Rows are written and deleted by their keys. Each partition's offset moves in the same transaction, so that
 * every change is applied once, even if members are killed. The member that claims a partition fences off the one that held it before.
 */
export function postgres(options: PostgresOptions = {}): PostgresSink {
  return new RowSink(resolvePostgresOptions(options));
}

class RowSink implements PostgresSink {
  readonly name: string;
  readonly host: string;
  readonly #options: ResolvedPostgresOptions;
  readonly #checkpoints: Checkpoints;
  readonly #targets: Targets;
  readonly #tables: Tables;
  readonly #changed: ChangedTables = new Map();
  readonly #transactions: Transactions;
  #pool: Promise<PostgresPool> | undefined;

  constructor(options: ResolvedPostgresOptions) {
    this.name = options.name;
    this.host = hostOf(options, process.env);
    this.#options = options;
    this.#targets = new Targets(options);
    this.#tables = new Tables(options);
    this.#transactions = new Transactions(options.statementTimeoutMs);
    this.#checkpoints = new Checkpoints({ schema: options.schema, table: options.checkpointTable, sink: options.name });
    bindMethods(this);
  }

  schemaSeen(seen: SchemaSeen): void {
    this.#tables.schemaSeen(seen);
  }

  async claim(groupId: string, assignments: readonly PartitionAssignment[]): Promise<readonly OffsetCommit[]> {
    if (!this.#options.keepsCheckpoints || assignments.length === 0) {
      return [];
    }
    return this.#transactions.run(await this.#connected(), "claiming partitions", async (statements) => {
      await this.#checkpoints.create(statements, { withSchema: this.#options.create });
      return this.#checkpoints.claim(statements, groupId, assignments);
    });
  }

  /**
   * Only the last state of each row is written, and rows of one form together. So a row may get a unique value before the row that had it has given
   * it up: 1 becomes "a" (as it was), 2 gives up "b", 1 becomes "b". No order of last states is free of this: two rows may swap their values over
   * a third value. If rows are in each other's way, the transaction is rolled back, and every change is written in its own order.
   */
  async apply(batch: SinkBatch): Promise<void> {
    const tables = pendingTables(batch.events, this.#targets, this.#changed, { isSequence: false });
    for (const { target, sources } of tables) {
      this.#targets.checkSources(target, sources.values());
    }
    try {
      await this.#applyTables(batch, tables);
    } catch (error) {
      if (batch.events.length < 2 || !isConflict(error)) {
        throw error;
      }
      await this.#applyTables(batch, pendingTables(batch.events, this.#targets, this.#changed, { isSequence: true }));
    }
  }

  async #applyTables({ assignment, nextOffset }: SinkBatch, tables: readonly PendingTable[]): Promise<void> {
    const what = `applying ${assignment.topic}[${assignment.partition}] up to offset ${nextOffset}`;
    const changed: Target[] = [];
    try {
      await this.#transactions.run(await this.#connected(), what, async (statements) => {
        if (this.#options.keepsCheckpoints && !(await this.#checkpoints.advance(statements, assignment, nextOffset))) {
          return;
        }
        for (const table of tables) {
          if (await this.#write(statements.labelled(`writing to ${quoteTable(table.target)}`), table)) {
            changed.push(table.target);
          }
        }
      });
    } catch (error) {
      this.#forget(tables.map(({ target }) => target));
      throw error;
    }
    this.#forget(changed);
  }

  async close(): Promise<void> {
    const pool = this.#pool;
    this.#pool = undefined;
    this.#transactions.cut();
    if (this.#options.pool === null) {
      await (await pool)?.end();
    }
  }

  #forget(targets: Iterable<Target>): void {
    for (const target of targets) {
      this.#tables.forget(target);
    }
  }

  /** Whether the table itself was altered for the rows. */
  async #write(statements: Statements, table: PendingTable): Promise<boolean> {
    const { target, isSequence, isTruncated, rows } = table;
    if (isTruncated && (await this.#tables.has(statements, target))) {
      await statements.query({ text: `truncate ${quoteTable(target)}` });
    }
    if (rows.length === 0) {
      return false;
    }
    const { columns, isChanged } = await this.#tables.columnsFor(statements, table);
    const parts = columns.size === 0 ? [] : isSequence ? rows.map((row) => [row]) : [rows];
    for (const part of parts) {
      await writeRows(statements, target, columns, part, { refusesIncomplete: this.#options.keepsCheckpoints });
    }
    return isChanged;
  }

  #connected(): Promise<PostgresPool> {
    this.#pool ??= this.#options.pool === null ? ownPool(this.#options.connectionString) : Promise.resolve(this.#options.pool);
    return this.#pool;
  }
}
