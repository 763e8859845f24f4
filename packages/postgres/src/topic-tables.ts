import type { PartitionAssignment } from "@cdckit/consumer";
import type { ChangeEvent, RowEvent, TableName, TombstoneEvent } from "@cdckit/decode";
import { DeletedKeys, type OpenDelete, type RowTarget } from "./deleted-keys.ts";
import { PostgresSinkError } from "./errors.ts";
import { quoteTable } from "./quote.ts";
import type { Target } from "./table-columns.ts";
import { isAnotherTable } from "./targets.ts";

/**
 * To which tables the rows of a topic went; null for all that are left out. Two of each are enough: from then on, a topic's tombstones say no
 * table. Kept with the checkpoint of each partition, because a tombstone may be the first record after a restart.
 */
export interface TopicFacts {
  /** Of rows whose deletes may be nothing but a tombstone: those without an envelope, and flattened ones. */
  readonly rows: readonly RowTarget[];
  /** Of changes in an envelope: a tombstone comes after their delete. */
  readonly changes: readonly RowTarget[];
  /** Of which source tables the rows were, if the user's `tableFor` may have written several to one. Absent in what older versions have kept. */
  readonly sources?: readonly SourcesOf[];
}

/** What the checkpoint of a partition keeps for tombstones. */
export interface PartitionFacts extends TopicFacts {
  /** The last deletes whose tombstones are still to come, if rows of the topic go to several tables. */
  readonly deletes?: readonly OpenDelete[];
}

/** A table, and the first two source tables of its rows: shards, say, or partitions. */
interface SourcesOf extends Target {
  readonly tables: readonly TableName[];
}

const noFacts: TopicFacts = Object.freeze({ rows: [], changes: [] });
const maxTables = 2;
/** Of one topic whose source tables are kept. */
const maxTargets = 100;

/** The table of a tombstone's row. */
export interface Place {
  readonly target: Target;
  /** Only the name of the topic says so, and no row of the topic was seen. */
  readonly isGuess: boolean;
}

/**
 * Knows the tables of tombstones: of their messages nothing is left but a key. What a batch has told stays if its transaction fails: its rows are in
 * the topic all the same, and a second table makes the sink refuse a tombstone, and never delete another row.
 */
export class TopicTables {
  readonly #topics = new Map<string, TopicFacts>();
  /** By assignment: they go when this member no longer has the partition. */
  readonly #deletes = new WeakMap<PartitionAssignment, DeletedKeys>();
  readonly #keepsSources: boolean;
  #lastSource: TableName | null = null;
  /** Topics of which earlier rows may have gone to tables that are not known here. */
  readonly #incomplete = new Set<string>();

  /** `keepsSources`: whether rows of several source tables may go to one table. */
  constructor({ keepsSources }: { readonly keepsSources: boolean }) {
    this.#keepsSources = keepsSources;
  }

  /** A partition was claimed. `facts`: what its checkpoint says; null if nobody kept it. Another member may have had it meanwhile. */
  claimed(assignment: PartitionAssignment, facts: PartitionFacts | null): void {
    const { topic } = assignment;
    this.#deletes.set(assignment, new DeletedKeys(facts?.deletes));
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

  /** The last deletes of the partition whose tombstones are still to come, if nothing else says whose those are. */
  openDeletesOf(assignment: PartitionAssignment): readonly OpenDelete[] {
    const { rows, changes } = this.factsOf(assignment.topic);
    return rows.length > 0 && distinct([...rows, ...changes]).length > 1 ? this.#deletesOf(assignment).open : [];
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

  /** Notes to which table a row goes, or is deleted from; null if its table is left out. `table` is its source table. */
  note(assignment: PartitionAssignment, event: ChangeEvent | RowEvent, table: TableName, keyName: string | null, target: RowTarget): void {
    if (target !== null && this.#keepsSources && table !== this.#lastSource) {
      this.#lastSource = table; // most events have the same name as the last one
      this.#addSource(event.record.topic, target, table);
    }
    const isBare = event.kind === "row" || event.envelope === "flattened";
    this.#add(event.record.topic, isBare ? "rows" : "changes", target);
    if (keyName !== null) {
      const deletes = this.#deletesOf(assignment);
      if (event.kind === "change" && event.op === "delete") {
        deletes.deleted(keyName, target);
      } else {
        deletes.written(keyName, { isOf: (other) => isSame(other, target) });
      }
    }
  }

  /** A batch of the partition is looked at, perhaps once more: its deletes are noted anew. */
  batchBegins(assignment: PartitionAssignment): void {
    this.#deletesOf(assignment).takeBack();
  }

  batchApplied(assignment: PartitionAssignment): void {
    this.#deletesOf(assignment).applied();
  }

  /**
   * The table that has the tombstone's row; null if its delete has come before it, or if its table is left out. `own`: what the tombstone itself
   * says, null if that table is left out, undefined if it says none. Throws if it may be a delete, and nothing says of which table.
   */
  placeOf(assignment: PartitionAssignment, event: TombstoneEvent, keyName: string | null, own: RowTarget | undefined): Place | null {
    const { topic } = event.record;
    const deleted = keyName === null ? undefined : this.#deletesOf(assignment).buried(keyName);
    if (deleted !== undefined) {
      return certain(deleted);
    }
    if (own !== undefined && event.table !== null && !isNamedByTopic(event)) {
      return certain(own);
    }
    const { rows, changes } = this.factsOf(topic);
    const [only, other] = distinct([...rows, ...changes]);
    if (only === undefined) {
      if (own === undefined) {
        throw tableUnknown(event, "no row of the topic was seen, and the topic's name says no table");
      }
      return own === null ? null : { target: own, isGuess: true };
    }
    if (other !== undefined) {
      if (rows.length > 0) {
        throw tableUnknown(event, `rows of the topic go to ${targetText(only)} and to ${targetText(other)}`);
      }
      return null;
    }
    if (only === null) {
      return null;
    }
    // Changes of another table may have come before this member read the topic: the tombstone may be of that one, after its delete.
    const isOther = own === null || own === undefined || quoteTable(own) !== quoteTable(only);
    return rows.length === 0 && isOther && !this.isComplete(topic) ? null : { target: only, isGuess: false };
  }

  #deletesOf(assignment: PartitionAssignment): DeletedKeys {
    const deletes = this.#deletes.get(assignment) ?? new DeletedKeys();
    this.#deletes.set(assignment, deletes);
    return deletes;
  }

  #add(topic: string, form: "rows" | "changes", target: RowTarget): void {
    const facts = this.factsOf(topic);
    const known = facts[form];
    if (known.length < maxTables && !known.some((one) => isSame(one, target))) {
      this.#topics.set(topic, { ...facts, [form]: [...known, target && { schema: target.schema, name: target.name }] });
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
}

/** A row of which nothing says whose it is: its topic's name ends in nothing, or is of a topic of Kafka's own kind (`__name`). */
export function rowWithoutTable({ record: { topic, partition, offset } }: RowEvent): PostgresSinkError {
  return new PostgresSinkError(
    "table-unknown",
    `nothing says of which table the row at ${topic}[${partition}] offset ${offset} is, neither its message nor the topic's name. Name the table in the ` +
      `consumer's options, decoder.topics[${JSON.stringify(topic)}].table: { name: "..." }, or leave the topic out of topics`,
  );
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

function certain(target: RowTarget): Place | null {
  return target === null ? null : { target, isGuess: false };
}

function isSame(one: RowTarget, other: RowTarget): boolean {
  return one?.name === other?.name && one?.schema === other?.schema;
}

function distinct(targets: readonly RowTarget[]): readonly RowTarget[] {
  return targets.filter((target, i) => targets.findIndex((one) => isSame(one, target)) === i);
}

function targetText(target: RowTarget): string {
  return target === null ? "tables that are left out" : quoteTable(target);
}
