import type { PartitionAssignment } from "@cdckit/consumer";
import type { ChangeEvent, RowEvent, TableName, TombstoneEvent } from "@cdckit/decode";
import { PostgresSinkError } from "./errors.ts";
import { quoteTable } from "./quote.ts";
import type { Target } from "./tables.ts";
import { isAnotherTable } from "./targets.ts";

/**
 * To which tables the rows of a topic went. Two of each are enough: from then on, a topic's tombstones say no table. Kept with the checkpoint of
 * each partition, because a tombstone may be the first record after a restart.
 */
export interface TopicFacts {
  /** Of rows whose deletes may be nothing but a tombstone: those without an envelope, and flattened ones. */
  readonly rows: readonly Target[];
  /** Of changes in an envelope: a tombstone comes after their delete. */
  readonly changes: readonly Target[];
  /** Of which source tables the rows were, if the user's `tableFor` may have written several to one. Absent in what older versions have kept. */
  readonly sources?: readonly SourcesOf[];
}

/** A table, and the first two source tables of its rows: shards, say, or partitions. */
interface SourcesOf extends Target {
  readonly tables: readonly TableName[];
}

const noFacts: TopicFacts = Object.freeze({ rows: [], changes: [] });
const maxTables = 2;
/** Of one topic whose source tables are kept. */
const maxTargets = 100;
/** A tombstone comes right after its delete. Between them are records of other connectors that write to the same partition, at most. */
const maxDeletes = 1_000;

/** The table of a tombstone's row. */
export interface Place {
  readonly target: Target;
  /** Only the name of the topic says so, and no row of the topic was seen. */
  readonly isGuess: boolean;
}

/** Knows the tables of tombstones: of their messages nothing is left but a key. */
export class TopicTables {
  readonly #topics = new Map<string, TopicFacts>();
  /** By partition and key: the table of the last delete. */
  readonly #deletes = new Map<string, Map<string, Target>>();
  readonly #keepsSources: boolean;
  #lastSource: TableName | null = null;
  /** Topics of which earlier rows may have gone to tables that are not known here. */
  readonly #incomplete = new Set<string>();

  /** `keepsSources`: whether rows of several source tables may go to one table. */
  constructor({ keepsSources }: { readonly keepsSources: boolean }) {
    this.#keepsSources = keepsSources;
  }

  /** A partition was claimed. `facts`: what its checkpoint says; null if nobody kept it. Another member may have had it meanwhile. */
  claimed({ topic, partition }: PartitionAssignment, facts: TopicFacts | null): void {
    this.#deletes.delete(partitionOf(topic, partition));
    if (facts === null) {
      this.#incomplete.add(topic);
    }
    for (const target of facts?.rows ?? []) {
      this.#add(topic, "rows", target);
    }
    for (const target of facts?.changes ?? []) {
      this.#add(topic, "changes", target);
    }
    for (const { tables, ...target } of facts?.sources ?? []) {
      tables.forEach((table) => this.#addSource(topic, target, table));
    }
  }

  factsOf(topic: string): TopicFacts {
    return this.#topics.get(topic) ?? noFacts;
  }

  /** Whether every row of the topic that this sink may have written is known of. */
  isComplete(topic: string): boolean {
    return !this.#incomplete.has(topic);
  }

  /** Whether the table is known to have rows of another source table than one of these. */
  isShared(target: Target, sources: Iterable<TableName>): boolean {
    const known = [...this.#topics.values()].flatMap((facts) => facts.sources?.find((one) => isSame(one, target))?.tables ?? []);
    return [...sources].some((source) => known.some((table) => isAnotherTable(table, source)));
  }

  /** Notes to which table a row goes, or is deleted from. `table` is its source table. */
  note(event: ChangeEvent | RowEvent, table: TableName, keyName: string | null, target: Target): void {
    if (this.#keepsSources && table !== this.#lastSource) {
      this.#lastSource = table; // most events have the same name as the last one
      this.#addSource(event.record.topic, target, table);
    }
    const isBare = event.kind === "row" || event.envelope === "flattened";
    this.#add(event.record.topic, isBare ? "rows" : "changes", target);
    if (event.kind === "change" && event.op === "delete" && keyName !== null) {
      this.#noteDelete(partitionOf(event.record.topic, event.record.partition), keyName, target);
    }
  }

  /**
   * The table that has the tombstone's row; null if its delete has come before it. `own`: what the tombstone itself says. Throws if it may be
   * a delete, and nothing says of which table.
   */
  placeOf(event: TombstoneEvent, keyName: string | null, own: Target | null): Place | null {
    const { topic, partition } = event.record;
    const deleted = keyName === null ? undefined : this.#deletes.get(partitionOf(topic, partition))?.get(keyName);
    if (deleted !== undefined) {
      return { target: deleted, isGuess: false };
    }
    if (own !== null && !isNamedByTopic(event)) {
      return { target: own, isGuess: false };
    }
    const { rows, changes } = this.factsOf(topic);
    const [only, other] = distinct([...rows, ...changes]);
    if (only === undefined) {
      return own === null ? null : { target: own, isGuess: true };
    }
    if (other !== undefined) {
      if (rows.length > 0) {
        throw tableUnknown(event, `rows of the topic go to ${quoteTable(only)} and to ${quoteTable(other)}`);
      }
      return null;
    }
    // Changes of another table may have come before this member read the topic: the tombstone may be of that one, after its delete.
    const isOther = own === null || quoteTable(own) !== quoteTable(only);
    return rows.length === 0 && isOther && !this.isComplete(topic) ? null : { target: only, isGuess: false };
  }

  #add(topic: string, form: "rows" | "changes", target: Target): void {
    const facts = this.factsOf(topic);
    const known = facts[form];
    if (known.length < maxTables && !known.some((one) => isSame(one, target))) {
      this.#topics.set(topic, { ...facts, [form]: [...known, { schema: target.schema, name: target.name }] });
    }
  }

  #addSource(topic: string, { schema, name }: Target, table: TableName): void {
    const facts = this.factsOf(topic);
    const { sources = [] } = facts;
    const tables = sources.find((one) => isSame(one, { schema, name }))?.tables ?? [];
    const isNew = tables.length < maxTables && tables.every((known) => isAnotherTable(known, table));
    if (isNew && (tables.length > 0 || sources.length < maxTargets)) {
      const others = sources.filter((one) => !isSame(one, { schema, name }));
      this.#topics.set(topic, { ...facts, sources: [...others, { schema, name, tables: [...tables, table] }] });
    }
  }

  #noteDelete(partition: string, keyName: string, target: Target): void {
    const deletes = this.#deletes.get(partition) ?? new Map<string, Target>();
    this.#deletes.set(partition, deletes);
    deletes.delete(keyName); // so that it is the last one
    deletes.set(keyName, target);
    if (deletes.size > maxDeletes) {
      const [oldest = ""] = deletes.keys();
      deletes.delete(oldest);
    }
  }
}

/** A tombstone that may be a delete, and of which nothing says whose. */
export function tableUnknown({ record: { topic, partition, offset } }: TombstoneEvent, why: string): PostgresSinkError {
  return new PostgresSinkError(
    "table-unknown",
    `the tombstone at ${topic}[${partition}] offset ${offset} may be a delete, and nothing says of which table: ${why}. Name the table of the topic's rows ` +
      `in the consumer's options, decoder.topics[${JSON.stringify(topic)}].table: { name: "..." }, or let the connector write deletes as rows ` +
      "(delete.tombstone.handling.mode=rewrite)",
  );
}

/** Otherwise a header or a hint says the table. */
function isNamedByTopic({ table, record: { topic } }: TombstoneEvent): boolean {
  return table?.name === topic.slice(topic.lastIndexOf(".") + 1);
}

function isSame(one: Target, other: Target): boolean {
  return one.name === other.name && one.schema === other.schema;
}

function partitionOf(topic: string, partition: number): string {
  return `${partition}\0${topic}`;
}

function distinct(targets: readonly Target[]): readonly Target[] {
  return [...new Map(targets.map((target) => [quoteTable(target), target])).values()];
}
