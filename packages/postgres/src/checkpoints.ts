import type { OffsetCommit, PartitionAssignment } from "@cdckit/consumer";
import { PostgresSinkError } from "./errors.ts";
import type { PostgresClient } from "./options.ts";
import { quoteTable } from "./quote.ts";

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
  readonly #claims = new Map<PartitionAssignment, Claim>();

  constructor(scope: CheckpointScope) {
    this.#scope = scope;
    this.#table = quoteTable({ schema: scope.schema, name: scope.table });
  }

  async create(client: PostgresClient): Promise<void> {
    await client.query({
      text:
        `create table if not exists ${this.#table} (group_id text not null, sink text not null, topic text not null, ` +
        "partition integer not null, next_offset bigint, fence bigint not null, changed_at timestamptz not null default now(), " +
        "primary key (group_id, sink, topic, partition))",
    });
  }

  async claim(client: PostgresClient, groupId: string, assignments: readonly PartitionAssignment[]): Promise<readonly OffsetCommit[]> {
    // In one order for all members: two that claim the same partitions at once must not wait for each other.
    const ordered = assignments.toSorted((a, b) => (a.topic === b.topic ? a.partition - b.partition : a.topic < b.topic ? -1 : 1));
    const { rows } = await client.query({
      text:
        `insert into ${this.#table} as c (group_id, sink, topic, partition, fence) ` +
        "select $1, $2, u.topic, u.partition, 1 from unnest($3::text[], $4::integer[]) with ordinality as u(topic, partition, nth) order by nth " +
        "on conflict (group_id, sink, topic, partition) do update set fence = c.fence + 1, changed_at = now() " +
        "returning topic, partition, next_offset::text, fence::text",
      values: [groupId, this.#scope.sink, ordered.map(({ topic }) => topic), ordered.map(({ partition }) => partition)],
    });
    const known: OffsetCommit[] = [];
    for (const row of rows) {
      const assignment = ordered.find(({ topic, partition }) => topic === row["topic"] && partition === row["partition"]);
      if (assignment !== undefined) {
        this.#claims.set(assignment, { groupId, fence: String(row["fence"]) });
        if (row["next_offset"] !== null) {
          known.push({ assignment, offset: BigInt(String(row["next_offset"])) });
        }
      }
    }
    return known;
  }

  /** Moves the checkpoint; the first statement of the transaction. */
  async advance(client: PostgresClient, assignment: PartitionAssignment, nextOffset: bigint): Promise<void> {
    const claim = this.#claims.get(assignment);
    const place = `${assignment.topic}[${assignment.partition}]`;
    if (claim === undefined) {
      throw new PostgresSinkError("not-claimed", `${place} was not claimed by this sink`);
    }
    const { rowCount } = await client.query({
      name: "cdckit-advance",
      text:
        `update ${this.#table} set next_offset = $1, changed_at = now() ` +
        "where group_id = $2 and sink = $3 and topic = $4 and partition = $5 and fence = $6 and (next_offset is null or next_offset <= $1)",
      values: [String(nextOffset), claim.groupId, this.#scope.sink, assignment.topic, assignment.partition, claim.fence],
    });
    if (rowCount !== 1) {
      this.#claims.delete(assignment);
      throw new PostgresSinkError("fenced", `${place}: another member has claimed the partition since; nothing was written`);
    }
  }

  isClaimed(assignment: PartitionAssignment): boolean {
    return this.#claims.has(assignment);
  }

  /** Forgets claims that are over. */
  forget(assignment: PartitionAssignment): void {
    this.#claims.delete(assignment);
  }
}
