import type { OffsetCommit, PartitionAssignment } from "@cdckit/consumer";
import { createSchema } from "./create-schema.ts";
import { PostgresSinkError } from "./errors.ts";
import { quoteTable } from "./quote.ts";
import type { Target } from "./table-columns.ts";
import type { PartitionFacts } from "./topic-tables.ts";
import type { Statements } from "./transaction.ts";

/** The owner of checkpoints: a sink of a group. */
export interface CheckpointScope {
  readonly schema: string;
  readonly table: string;
  readonly sink: string;
}

/** A claimed partition: its row in the table of checkpoints, and the fence that this claim has set there. */
export interface Claim {
  readonly groupId: string;
  readonly fence: string;
  /** Up to which offset everything was applied, as the claim has found it or a commit has said since. Null if nothing of the topic was. */
  appliedTo: bigint | null;
}

/** What a claim has found. */
export interface Claimed {
  readonly known: readonly OffsetCommit[];
  /** By assignment: the tables of the topic's rows so far; null if a version that did not keep them has moved the checkpoint. */
  readonly facts: ReadonlyMap<PartitionAssignment, PartitionFacts | null>;
}

/** The columns that older versions did not have. */
const newColumns = [
  ["topic_id", "text"],
  ["topic_tables", "jsonb"],
] as const;

/**
 * The position of each partition, in the same database as the rows. A claim raises the partition's fence. A transaction that moves the
 * checkpoint names the fence of its own claim, and finds no row if another claim has raised it since. The lock of the row puts the two in
 * order: a claim waits for the transaction that is under way, and then reads the offset that this transaction has left.
 */
export class Checkpoints {
  readonly #scope: CheckpointScope;
  readonly #table: string;
  /** Claims by their assignments. When an assignment is collected, so is its claim. */
  readonly #claims = new WeakMap<PartitionAssignment, Claim>();

  constructor(scope: CheckpointScope) {
    this.#scope = scope;
    this.#table = quoteTable({ schema: scope.schema, name: scope.table });
  }

  /**
   * Creates the table if there is none, and adds the columns that a table of an older version does not have. The right to do so is needed
   * only then.
   */
  async create(statements: Statements, options: { readonly withSchema: boolean }): Promise<void> {
    // Two members that start together must not both create it. The second one waits, and then finds the table.
    await statements.query({ text: "select pg_advisory_xact_lock(hashtext('cdckit checkpoints'))" });
    const { rows } = await statements.query({
      text:
        "select to_regclass($1) is not null as present, array(select attname::text from pg_attribute " +
        "where attrelid = to_regclass($1) and not attisdropped) as columns",
      values: [this.#table],
    });
    if (rows[0]?.["present"] === true) {
      const present = rows[0]["columns"] as readonly string[];
      const added = newColumns
        .filter(([name]) => !present.includes(name))
        .map(([name, type]) => `add column if not exists ${name} ${type}`);
      if (added.length > 0) {
        const text = `alter table ${this.#table} ${added.join(", ")}`;
        await statements.labelled(`bringing the table of checkpoints up to date (only its owner may do this: ${text})`).query({ text });
      }
      return;
    }
    if (options.withSchema) {
      await createSchema(statements, this.#scope.schema);
    }
    await statements.query({
      text:
        `create table ${this.#table} (group_id text not null, sink text not null, topic text not null, ` +
        "partition integer not null, topic_id text, topic_tables jsonb, next_offset bigint, fence bigint not null, changed_at timestamptz not null default now(), " +
        "primary key (group_id, sink, topic, partition))",
    });
  }

  async claim(statements: Statements, groupId: string, assignments: readonly PartitionAssignment[]): Promise<Claimed> {
    // All members lock rows in the same order, so that two that claim the same partitions at once do not deadlock.
    const ordered = assignments.toSorted((a, b) => (a.topic === b.topic ? a.partition - b.partition : a.topic < b.topic ? -1 : 1));
    const { rows } = await statements.query({
      text:
        `insert into ${this.#table} as c (group_id, sink, topic, partition, fence) ` +
        "select $1, $2, u.topic, u.partition, 1 from unnest($3::text[], $4::integer[]) with ordinality as u(topic, partition, nth) order by nth " +
        "on conflict (group_id, sink, topic, partition) do update set fence = c.fence + 1, changed_at = now() " +
        "returning topic, partition, topic_id, topic_tables::text, next_offset::text, fence::text",
      values: [groupId, this.#scope.sink, ordered.map(({ topic }) => topic), ordered.map(({ partition }) => partition)],
    });
    const byPlace = new Map(ordered.map((assignment) => [placeOf(assignment), assignment]));
    const known: OffsetCommit[] = [];
    const facts = new Map<PartitionAssignment, PartitionFacts | null>();
    for (const row of rows) {
      const assignment = byPlace.get(placeOf({ topic: String(row["topic"]), partition: Number(row["partition"]) }));
      if (assignment !== undefined) {
        const offset = row["next_offset"] === null ? null : BigInt(String(row["next_offset"]));
        const topicId = row["topic_id"] === null ? null : String(row["topic_id"]);
        const isOfThisTopic = topicId === null || (assignment.topicId ?? topicId) === topicId;
        // Not null: after a failover that has lost this claim, too, another one may have the same fence, and a lower checkpoint.
        this.#claims.set(assignment, { groupId, fence: String(row["fence"]), appliedTo: isOfThisTopic ? offset : null });
        facts.set(assignment, factsOf(row["topic_tables"]) ?? (offset === null ? { rows: [], changes: [] } : null));
        if (offset !== null) {
          known.push(topicId === null ? { assignment, offset } : { assignment, offset, topicId });
        }
      }
    }
    return { known, facts };
  }

  /** Keeps the tables of the topic's rows, in the transaction that has moved the checkpoint. */
  async keepFacts(statements: Statements, assignment: PartitionAssignment, facts: PartitionFacts): Promise<void> {
    const groupId = this.#claims.get(assignment)?.groupId ?? "";
    await statements.query({
      text: `update ${this.#table} set topic_tables = $5 where group_id = $1 and sink = $2 and topic = $3 and partition = $4`,
      values: [groupId, this.#scope.sink, assignment.topic, assignment.partition, JSON.stringify(facts)],
    });
  }

  /** Whether a member of the group has ever claimed another partition of the topic. */
  async hasOtherPartitions(statements: Statements, assignment: PartitionAssignment): Promise<boolean> {
    const groupId = this.#claims.get(assignment)?.groupId ?? "";
    const { rows } = await statements.query({
      text: `select from ${this.#table} where group_id = $1 and sink = $2 and topic = $3 and partition <> $4 limit 1`,
      values: [groupId, this.#scope.sink, assignment.topic, assignment.partition],
    });
    return rows.length > 0;
  }

  /**
   * Whether changes of another topic went to the table, by any member of the group. Of a topic with several tables, only the sources name more than
   * two.
   */
  async hasOtherTopics(statements: Statements, assignment: PartitionAssignment, { schema, name }: Target): Promise<boolean> {
    const groupId = this.#claims.get(assignment)?.groupId ?? "";
    const { rows } = await statements.query({
      text:
        `select from ${this.#table} where group_id = $1 and sink = $2 and topic <> $3 ` +
        "and (topic_tables -> 'changes' @> $4::jsonb or topic_tables -> 'rows' @> $4::jsonb or topic_tables -> 'sources' @> $4::jsonb) limit 1",
      values: [groupId, this.#scope.sink, assignment.topic, JSON.stringify([{ schema, name }])],
    });
    return rows.length > 0;
  }

  /** The transaction that has moved the checkpoint, or found it there, is committed. */
  applied(assignment: PartitionAssignment, nextOffset: bigint): void {
    const claim = this.#claims.get(assignment);
    if (claim !== undefined) {
      claim.appliedTo = nextOffset;
    }
  }

  /**
   * Moves the checkpoint, as the first statement of the transaction. False if the checkpoint is there already: the connection broke during a
   * commit that PostgreSQL has carried out, and the same batch has come again. Throws if the checkpoint is behind what was applied. A checkpoint with
   * another topic id is of a deleted topic, and says nothing about the offsets of this one.
   */
  async advance(statements: Statements, assignment: PartitionAssignment, nextOffset: bigint): Promise<boolean> {
    const claim = this.#claims.get(assignment);
    if (claim === undefined) {
      throw new PostgresSinkError("not-claimed", `${placeOf(assignment)} was not claimed by this sink`);
    }
    const row = [claim.groupId, this.#scope.sink, assignment.topic, assignment.partition, claim.fence];
    // Without a name, although it is the same for each batch: a pooler between may run the next transaction on a connection that has not parsed it.
    const { rowCount } = await statements.query({
      text:
        `update ${this.#table} set next_offset = $6, topic_id = $7, changed_at = now() ` +
        "where group_id = $1 and sink = $2 and topic = $3 and partition = $4 and fence = $5 " +
        "and (next_offset is null or next_offset < $6 or topic_id <> $7) and ($8::bigint is null or next_offset >= $8)",
      values: [...row, String(nextOffset), assignment.topicId ?? null, claim.appliedTo === null ? null : String(claim.appliedTo)],
    });
    if (rowCount === 1) {
      return true;
    }
    const { rows } = await statements.query({
      text: `select next_offset::text, fence::text from ${this.#table} where group_id = $1 and sink = $2 and topic = $3 and partition = $4`,
      values: row.slice(0, 4),
    });
    const { next_offset: found, fence = "0" } = rows[0] ?? {};
    const isBehind = claim.appliedTo !== null && (typeof found !== "string" || BigInt(found) < claim.appliedTo);
    if (BigInt(String(fence)) < BigInt(claim.fence) || (fence === claim.fence && isBehind)) {
      throw checkpointLost(assignment, found, claim.appliedTo);
    }
    if (fence === claim.fence) {
      return false;
    }
    this.#claims.delete(assignment);
    throw new PostgresSinkError("fenced", `${placeOf(assignment)}: another member has claimed the partition since; nothing was written`);
  }
}

/**
 * The database has lost what it had committed, because a standby that lagged has taken over. If the next batch moved the checkpoint on, the rows between
 * would be lost for good.
 */
function checkpointLost(assignment: PartitionAssignment, found: unknown, appliedTo: bigint | null): PostgresSinkError {
  const standsAt = typeof found === "string" ? `is at ${found}` : "is gone";
  const known = appliedTo === null ? "this member has claimed the partition" : `everything below ${appliedTo} was applied`;
  return new PostgresSinkError(
    "checkpoint-lost",
    `${placeOf(assignment)}: the checkpoint ${standsAt}, and ${known}: the database has lost what it had committed, as after a failover to a standby that ` +
      "lagged. Nothing was written: start the consumer again, and it reads from the checkpoint on; with handlers beside the sink, set the group's offsets back first",
  );
}

/** From its text: an application may let its pool make something else of JSON. */
function factsOf(text: unknown): PartitionFacts | null {
  return typeof text === "string" ? (JSON.parse(text) as PartitionFacts) : null; // as `keepFacts` has written it
}

function placeOf({ topic, partition }: Pick<PartitionAssignment, "topic" | "partition">): string {
  return `${topic}[${partition}]`;
}
