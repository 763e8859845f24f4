import process from "node:process";
import type { OffsetCommit, PartitionAssignment, Sink, SinkBatch } from "@cdckit/consumer";
import type { SchemaSeen, TombstoneEvent } from "@cdckit/decode";
import { Checkpoints } from "./checkpoints.ts";
import { isConflict, isMismatch, PostgresSinkError } from "./errors.ts";
import { hostOf } from "./host.ts";
import { type PostgresOptions, type PostgresPool, type ResolvedPostgresOptions, resolvePostgresOptions } from "./options.ts";
import { ownPool } from "./own-pool.ts";
import { type PendingTable, pendingTables } from "./pending-rows.ts";
import { quoteTable } from "./quote.ts";
import type { Target } from "./table-columns.ts";
import { Tables } from "./tables.ts";
import { Targets } from "./targets.ts";
import { tableUnknown, type TopicFacts, TopicTables } from "./topic-tables.ts";
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
  readonly readsLeftOut = true;
  readonly #options: ResolvedPostgresOptions;
  readonly #checkpoints: Checkpoints;
  readonly #targets: Targets;
  readonly #tables: Tables;
  readonly #topics: TopicTables;
  /** By assignment: what its checkpoint says of the topic's tables and of open deletes. */
  readonly #kept = new WeakMap<PartitionAssignment, { readonly facts: TopicFacts; readonly deletes: string }>();
  /** Topics with several partitions, as far as this member has met one above 0. */
  readonly #divided = new Set<string>();
  readonly #transactions: Transactions;
  #pool: Promise<PostgresPool> | undefined;

  constructor(options: ResolvedPostgresOptions) {
    this.name = options.name;
    this.host = hostOf(options, process.env);
    this.#options = options;
    this.#targets = new Targets(options);
    this.#topics = new TopicTables({ keepsSources: options.tableFor !== null });
    this.#tables = new Tables(options);
    this.#transactions = new Transactions(options.statementTimeoutMs);
    this.#checkpoints = new Checkpoints({ schema: options.schema, table: options.checkpointTable, sink: options.name });
    bindMethods(this);
  }

  /** What is known of tables that are left out would be kept for nothing. */
  schemaSeen(seen: SchemaSeen): void {
    if (seen.table !== null && !this.#targets.leavesOut(seen.table)) {
      this.#tables.schemaSeen(seen);
    }
  }

  async claim(groupId: string, assignments: readonly PartitionAssignment[]): Promise<readonly OffsetCommit[]> {
    assignments.forEach((assignment) => this.#notePartition(assignment));
    if (!this.#options.keepsCheckpoints || assignments.length === 0) {
      assignments.forEach((assignment) => this.#topics.claimed(assignment, null));
      return [];
    }
    const { schema, checkpointTable } = this.#options;
    const what = `claiming partitions in ${quoteTable({ schema, name: checkpointTable })}`;
    const { known, facts } = await this.#transactions.run(await this.#connected(), what, async (statements) => {
      await this.#checkpoints.create(statements, { withSchema: this.#options.create });
      return this.#checkpoints.claim(statements, groupId, assignments);
    });
    for (const [assignment, kept] of facts) {
      this.#topics.claimed(assignment, kept);
    }
    return known;
  }

  /**
   * Only the last state of each row is written, and rows of one form together. So a row may get a unique value before the row that had it has given
   * it up: 1 becomes "a" (as it was), 2 gives up "b", 1 becomes "b". No order of last states is free of this: two rows may swap their values over
   * a third value. If rows are in each other's way, the transaction is rolled back, and every change is written in its own order. If an event gives a row
   * another key, or one row may have two keys, that is done at once.
   *
   * If a table does not fit, what is remembered of it may be what it was: somebody has altered it meanwhile. The second attempt looks at it again.
   */
  async apply(batch: SinkBatch): Promise<void> {
    this.#notePartition(batch.assignment);
    const states = this.#pendingTables(batch, { isSequence: false });
    const needsSequence = states.some((table) => table.needsSequence);
    const tables = needsSequence ? this.#pendingTables(batch, { isSequence: true }) : states;
    for (const { target, sources } of tables) {
      this.#targets.checkSources(target, sources.values());
    }
    const pool = await this.#connected(); // the same for both attempts: if the sink is closed between them, none may be opened again
    try {
      await this.#applyTables(pool, batch, tables);
    } catch (error) {
      const isSequence = !needsSequence && batch.events.length > 1 && isConflict(error);
      if (!isSequence && !isMismatch(error)) {
        throw error;
      }
      await this.#applyTables(pool, batch, isSequence ? this.#pendingTables(batch, { isSequence }) : tables);
    }
  }

  #pendingTables(batch: SinkBatch, { isSequence }: { readonly isSequence: boolean }): readonly PendingTable[] {
    this.#topics.batchBegins(batch.assignment);
    return pendingTables(batch, this.#targets, this.#topics, { isSequence, ignoresTruncates: this.#options.truncate === "ignore" });
  }

  async #applyTables(pool: PostgresPool, { assignment, nextOffset }: SinkBatch, tables: readonly PendingTable[]): Promise<void> {
    const what = `applying ${assignment.topic}[${assignment.partition}] up to offset ${nextOffset}`;
    const changed: Target[] = [];
    const facts = this.#topics.factsOf(assignment.topic);
    const deletes = this.#topics.openDeletesOf(assignment);
    const news = this.#options.keepsCheckpoints ? this.#newsOf(assignment, facts, JSON.stringify(deletes)) : null;
    try {
      await this.#transactions.run(pool, what, async (statements) => {
        if (this.#options.keepsCheckpoints && !(await this.#checkpoints.advance(statements, assignment, nextOffset))) {
          return;
        }
        if (news !== null) {
          await this.#checkpoints.keepFacts(statements, assignment, deletes.length === 0 ? facts : { ...facts, deletes });
        }
        for (const table of tables) {
          if (table.isTruncated) {
            await this.#checkTruncate(statements, assignment, table);
          }
          if (await this.#write(statements.labelled(`writing to ${quoteTable(table.target)}`), table)) {
            changed.push(table.target);
          }
        }
      });
    } catch (error) {
      this.#forget(tables.map(({ target }) => target));
      throw error;
    }
    this.#checkpoints.applied(assignment, nextOffset);
    if (news !== null) {
      this.#kept.set(assignment, news);
    }
    this.#topics.batchApplied(assignment);
    this.#forget(changed);
  }

  /** What the checkpoint is to keep of now on; null if it keeps that already, or if there is nothing to keep. */
  #newsOf(
    assignment: PartitionAssignment,
    facts: TopicFacts,
    deletes: string,
  ): { readonly facts: TopicFacts; readonly deletes: string } | null {
    const kept = this.#kept.get(assignment);
    const isKept = kept === undefined ? facts.rows.length + facts.changes.length === 0 : kept.facts === facts && kept.deletes === deletes;
    return isKept ? null : { facts, deletes };
  }

  #notePartition({ topic, partition }: PartitionAssignment): void {
    if (partition > 0) {
      this.#divided.add(topic);
    }
  }

  /**
   * A truncate is in one partition. The other ones may be ahead of it, and their rows of after it would be emptied away, too. So would the rows of
   * other source tables, if the table has any.
   */
  async #checkTruncate(statements: Statements, assignment: PartitionAssignment, { target, sources }: PendingTable): Promise<void> {
    if (this.#options.truncate === "apply") {
      return;
    }
    const lost = this.#options.truncate === "halt" ? null : await this.#whatTruncateLoses(statements, assignment, target, sources);
    if (lost !== null || this.#options.truncate === "halt") {
      const { why = "the sink was told to refuse it", advice = "give the topic one partition" } = lost ?? {};
      throw new PostgresSinkError(
        "truncate-refused",
        `the source table of ${quoteTable(target)} was truncated, and ${why}: choose by the sink's option truncate ("apply" empties the table, "ignore" ` +
          `keeps its rows), ${advice}, or let the connector leave truncates out (skipped.operations=t)`,
      );
    }
  }

  /** What would be lost if the table were emptied, and how it is avoided; null if nothing is known that would be. */
  async #whatTruncateLoses(
    statements: Statements,
    assignment: PartitionAssignment,
    target: Target,
    sources: PendingTable["sources"],
  ): Promise<{ readonly why: string; readonly advice: string } | null> {
    const { topic } = assignment;
    const { keepsCheckpoints } = this.#options;
    if (this.#divided.has(topic) || (keepsCheckpoints && (await this.#checkpoints.hasOtherPartitions(statements, assignment)))) {
      const why = `${topic} has several partitions, whose rows of after the truncate may be in the table already`;
      return { why, advice: "give the topic one partition" };
    }
    const advice = "give the source table a table of its own by tableFor";
    if (this.#topics.isShared(target, sources.values())) {
      return { why: "the table has rows of other source tables, too", advice };
    }
    const isOfTopics = keepsCheckpoints && (await this.#checkpoints.hasOtherTopics(statements, assignment, target));
    return isOfTopics ? { why: "the table has rows of other topics, too", advice } : null;
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
    if (columns.size === 0 && table.guessedBy !== null) {
      this.#checkGuess(table.guessedBy, target);
    }
    const parts = columns.size === 0 ? [] : isSequence ? rows.map((row) => [row]) : [rows];
    for (const part of parts) {
      await writeRows(statements, target, columns, part, { refusesIncomplete: this.#options.keepsCheckpoints });
    }
    return isChanged;
  }

  /** The table of the tombstone's row is not there. This is no loss if no row of the topic has come yet, and the sink will make its table. */
  #checkGuess(tombstone: TombstoneEvent, target: Target): void {
    if (!this.#options.create || !this.#topics.isComplete(tombstone.record.topic)) {
      throw tableUnknown(tombstone, `no row of the topic was seen, and there is no table ${quoteTable(target)}, as the topic's name says`);
    }
  }

  #connected(): Promise<PostgresPool> {
    this.#pool ??= this.#options.pool === null ? ownPool(this.#options.connectionString) : Promise.resolve(this.#options.pool);
    return this.#pool;
  }
}
