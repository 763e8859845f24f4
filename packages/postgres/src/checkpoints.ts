import type { OffsetCommit, PartitionAssignment } from "@cdckit/consumer";
import { PostgresSinkError } from "./errors.ts";
import { quoteName, quoteTable } from "./quote.ts";
import type { Statements } from "./transaction.ts";

/** Whose checkpoints they are. */
export interface CheckpointScope {
  readonly schema: string;
  readonly table: string;
  readonly sink: string;
}

/** A partition that was claimed: its row in the table of checkpoints, and the fence that this claim has set there. */
export interface Claim {
  readonly groupId: string;
  readonly fence: string;
}

/**
 * Where each partition stands, beside the rows themselves. Whoever claims a partition raises its fence; a transaction that moves the
 * checkpoint names the fence of its own claim and finds no row when it is not the highest any more. The row's lock orders the two: a
 * claim waits for the transaction under way, and then reads the offset that it has left.
 */
export class Checkpoints {
  readonly #scope: CheckpointScope;
  readonly #table: string;
  /** Those of assignments that are over go with them. */
  readonly #claims = new WeakMap<PartitionAssignment, Claim>();

  constructor(scope: CheckpointScope) {
    this.#scope = scope;
    this.#table = quoteTable({ schema: scope.schema, name: scope.table });
  }

  /**
   * Makes the table where there is none, and adds the column for topic ids to one of an older version; the right to do so is needed only
   * there.
   */
  async create(statements: Statements, options: { readonly withSchema: boolean }): Promise<void> {
    // Two members that start together must not both create it: the second waits, and finds it there.
    await statements.query({ text: "select pg_advisory_xact_lock(hashtext('cdckit checkpoints'))" });
    const { rows } = await statements.query({
      text:
        "select to_regclass($1) is not null as present, exists (select from pg_attribute " +
        "where attrelid = to_regclass($1) and attname = 'topic_id' and not attisdropped) as has_topic_id",
      values: [this.#table],
    });
    if (rows[0]?.["present"] === true) {
      if (rows[0]["has_topic_id"] !== true) {
        const text = `alter table ${this.#table} add column if not exists topic_id text`;
        await statements.labelled(`bringing the table of checkpoints up to date (its owner may: ${text})`).query({ text });
      }
      return;
    }
    if (options.withSchema) {
      await statements.query({ text: `create schema if not exists ${quoteName(this.#scope.schema)}` });
    }
    await statements.query({
      text:
        `create table ${this.#table} (group_id text not null, sink text not null, topic text not null, ` +
        "partition integer not null, topic_id text, next_offset bigint, fence bigint not null, changed_at timestamptz not null default now(), " +
        "primary key (group_id, sink, topic, partition))",
    });
  }

  async claim(statements: Statements, groupId: string, assignments: readonly PartitionAssignment[]): Promise<readonly OffsetCommit[]> {
    // In one order for all members: two that claim the same partitions at once must not wait for each other.
    const ordered = assignments.toSorted((a, b) => (a.topic === b.topic ? a.partition - b.partition : a.topic < b.topic ? -1 : 1));
    const { rows } = await statements.query({
      text:
        `insert into ${this.#table} as c (group_id, sink, topic, partition, fence) ` +
        "select $1, $2, u.topic, u.partition, 1 from unnest($3::text[], $4::integer[]) with ordinality as u(topic, partition, nth) order by nth " +
        "on conflict (group_id, sink, topic, partition) do update set fence = c.fence + 1, changed_at = now() " +
        "returning topic, partition, topic_id, next_offset::text, fence::text",
      values: [groupId, this.#scope.sink, ordered.map(({ topic }) => topic), ordered.map(({ partition }) => partition)],
    });
    const known: OffsetCommit[] = [];
    for (const row of rows) {
      const assignment = ordered.find(({ topic, partition }) => topic === row["topic"] && partition === row["partition"]);
      if (assignment !== undefined) {
        this.#claims.set(assignment, { groupId, fence: String(row["fence"]) });
        if (row["next_offset"] !== null) {
          const offset = BigInt(String(row["next_offset"]));
          known.push(row["topic_id"] === null ? { assignment, offset } : { assignment, offset, topicId: String(row["topic_id"]) });
        }
      }
    }
    return known;
  }

  /**
   * Moves the checkpoint; the first statement of the transaction. False where it has been moved already: the connection broke while a
   * transaction was being committed, which PostgreSQL did, and the same batch has come again. A checkpoint of another topic id is of a topic
   * that was deleted: it says nothing of this one's offsets.
   */
  async advance(statements: Statements, assignment: PartitionAssignment, nextOffset: bigint): Promise<boolean> {
    const claim = this.#claims.get(assignment);
    if (claim === undefined) {
      throw new PostgresSinkError("not-claimed", `${placeOf(assignment)} was not claimed by this sink`);
    }
    const row = [claim.groupId, this.#scope.sink, assignment.topic, assignment.partition, claim.fence];
    const { rowCount } = await statements.query({
      name: "cdckit-advance-topic",
      text:
        `update ${this.#table} set next_offset = $6, topic_id = $7, changed_at = now() ` +
        "where group_id = $1 and sink = $2 and topic = $3 and partition = $4 and fence = $5 " +
        "and (next_offset is null or next_offset < $6 or topic_id <> $7)",
      values: [...row, String(nextOffset), assignment.topicId ?? null],
    });
    if (rowCount === 1) {
      return true;
    }
    const own = await statements.query({
      text: `select from ${this.#table} where group_id = $1 and sink = $2 and topic = $3 and partition = $4 and fence = $5`,
      values: row,
    });
    if (own.rowCount === 1) {
      return false;
    }
    this.#claims.delete(assignment);
    throw new PostgresSinkError("fenced", `${placeOf(assignment)}: another member has claimed the partition since; nothing was written`);
  }
}

function placeOf({ topic, partition }: PartitionAssignment): string {
  return `${topic}[${partition}]`;
}
