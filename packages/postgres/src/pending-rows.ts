import type { SinkBatch } from "@cdckit/consumer";
import { applyTo, type CdcEvent, type Columns, type TableName, type TombstoneEvent, UNAVAILABLE } from "@cdckit/decode";
import { PostgresSinkError } from "./errors.ts";
import { checkTableName, isKeptWhole } from "./name-limit.ts";
import { quoteTable } from "./quote.ts";
import type { Target } from "./table-columns.ts";
import { shownName, sourceName, type Targets } from "./targets.ts";
import { type Place, rowWithoutTable, type TopicTables } from "./topic-tables.ts";
import { valueText } from "./value-text.ts";

/** A pending write or delete of a row. */
export interface PendingRow {
  readonly key: Columns;
  /** Null if the row is deleted. A column that is UNAVAILABLE keeps the table's value. */
  readonly row: Columns | null;
  /** The row was created in this batch. The table has no value for a column that is UNAVAILABLE: what it has under the key is another row. */
  readonly isNew: boolean;
  /** The source has updated a row, which the table should have. Of the columns that it leaves out, the table has the values. */
  readonly isUpdate?: boolean;
  /** One event has given the row another key, and this is the one that it had. Columns that the event leaves out stay. Asked in a sequence alone. */
  readonly movedFrom?: Columns;
  /** The key's row of before was deleted in this batch, and goes first: what it has in columns that the new row lacks is not the new row's. */
  readonly isReplaced?: boolean;
}

/** Changes to one table, only the last of each row, or every one. If the table was truncated among them, it is emptied first. */
export interface PendingTable {
  readonly target: Target;
  /**
   * Every change since the truncate up to one of another table, in the order in which they came. Otherwise only the last of each row, at the place of
   * its first one.
   */
  readonly isSequence: boolean;
  /** The source tables of the changes, by their names. That of a tombstone is not among them: it is only what its topic is called. */
  readonly sources: ReadonlyMap<string, TableName>;
  readonly isTruncated: boolean;
  /**
   * Only if every change is written in its order is the right row found. One event gives a row another key. Or two keys may be those of one row, because a
   * decimal is written in two ways: 1.0 and 1.00. The last states of both would be written, and the delete first.
   */
  readonly needsSequence: boolean;
  /** The first tombstone of which only the topic's name says that its row is in this table; null if there is none. */
  readonly guessedBy: TombstoneEvent | null;
  readonly rows: readonly PendingRow[];
}

interface OpenTable {
  readonly target: Target;
  readonly isSequence: boolean;
  readonly sources: Map<string, TableName>;
  isTruncated: boolean;
  needsSequence: boolean;
  guessedBy: TombstoneEvent | null;
  readonly rows: Map<string, PendingRow>;
}

export interface PendingOptions {
  /** No event of a row takes the place of one before it. */
  readonly isSequence: boolean;
  /** Truncates are left out. */
  readonly ignoresTruncates: boolean;
}

/**
 * Reduces events to the last state of each row, by table, in the order in which tables first appear. In a sequence, a table appears again after each
 * change of another one: its rows may refer to those. Tables are told apart by their target, not by their source: the source table of a tombstone is
 * known only by the name of its topic, which may be another name.
 */
export function pendingTables(
  { assignment, events, leftOut }: SinkBatch,
  targets: Targets,
  topics: TopicTables,
  { isSequence, ignoresTruncates }: PendingOptions,
): readonly PendingTable[] {
  const tables: OpenTable[] = [];
  const latest = new Map<string, OpenTable>();
  const openOf = (target: Target): OpenTable => {
    const name = quoteTable(target);
    let open = latest.get(name);
    if (open === undefined || (isSequence && open !== tables.at(-1))) {
      checkTableName(target);
      open = { target, isSequence, sources: new Map(), isTruncated: false, needsSequence: false, guessedBy: null, rows: new Map() };
      latest.set(name, open);
      tables.push(open);
    }
    return open;
  };
  for (const event of events) {
    const isLeftOut = leftOut?.has(event) === true;
    if (event.kind === "tombstone") {
      const own = isLeftOut ? null : event.table === null ? undefined : targets.of(event.table);
      addTombstone(event, topics.placeOf(assignment, event, keyNameOf(event.key), own), openOf);
      continue;
    }
    if (!("table" in event) || (ignoresTruncates && event.kind === "truncate")) {
      continue;
    }
    if (event.table === null) {
      // Any other envelope says by a row without a table that it is none: a message that an outbox router took out of its table.
      if (event.kind === "row" && event.envelope === "none" && !isLeftOut) {
        throw rowWithoutTable(event);
      }
      continue;
    }
    const target = isLeftOut ? null : targets.of(event.table);
    if (event.kind !== "truncate") {
      topics.note(assignment, event, event.table, keyNameOf(event.key), target);
    }
    if (target === null) {
      continue;
    }
    const open = openOf(target);
    open.sources.set(sourceName(event.table), event.table);
    add(event, event.table, open);
  }
  return tables.map(({ rows, ...table }) => ({
    ...table,
    needsSequence: table.needsSequence || hasTwoSpellings(rows),
    rows: [...rows.values()],
  }));
}

const paddedDecimal = /"(-?\d+\.(?:\d*[1-9])?)0+"/g;

/** Whether the names of two keys differ in the zeros at the ends of decimals alone. A column of texts tells them apart, and a sequence does no harm there. */
function hasTwoSpellings(rows: ReadonlyMap<string, PendingRow>): boolean {
  const names = [...rows.keys()];
  if (!names.some((name) => /\.\d*0"/.test(name))) {
    return false;
  }
  const shortened = names.map((name) => name.replace(paddedDecimal, (_, digits: string) => `"${digits.replace(/\.$/, "")}"`));
  return new Set(shortened).size < names.length;
}

/** After a delete it changes nothing. In a compacted topic of rows it is the delete itself. */
function addTombstone(event: TombstoneEvent, place: Place | null, openOf: (target: Target) => OpenTable): void {
  if (place === null) {
    return;
  }
  const { target, isGuess } = place;
  if (!isKeptWhole(target.name)) {
    return; // it is only what the topic is called, and no table of this name can have the row
  }
  const open = openOf(target);
  if (isGuess) {
    open.guessedBy ??= event;
  }
  put(open, { key: keyOf(event.key, target), row: null, isNew: false });
}

function add(event: CdcEvent, table: TableName, open: OpenTable): void {
  switch (event.kind) {
    case "change": {
      const key = keyOf(event.key, table);
      if (event.op === "delete") {
        put(open, { key, row: null, isNew: false });
        return;
      }
      const isUpdate = event.op === "update";
      const movedFrom = isUpdate ? oldKeyOf(event.before, key) : null;
      open.needsSequence ||= movedFrom !== null;
      put(open, { key, row: event.after, isNew: !isUpdate, isUpdate, ...(movedFrom === null ? {} : { movedFrom }) });
      return;
    }
    case "row":
      put(open, { key: keyOf(event.key, table), row: event.row, isNew: false });
      return;
    case "truncate":
      open.rows.clear();
      open.isTruncated = true;
      return;
    default: // events of other kinds have no table
  }
}

/**
 * Columns that the row leaves out keep what an earlier change has written, as if the changes came in two batches: GoldenGate's updates have the changed
 * columns alone, Cassandra's the columns that are set, and wal2json's no large value that did not change.
 */
function put({ rows, isSequence }: OpenTable, pending: PendingRow): void {
  if (isSequence) {
    rows.set(String(rows.size), pending);
    return;
  }
  const name = nameOf(pending.key);
  const previous = rows.get(name);
  if (pending.row === null || previous === undefined) {
    rows.set(name, pending);
    return;
  }
  const isNew = pending.isNew || previous.isNew || previous.row === null;
  const isReplaced = previous.row === null || previous.isReplaced === true;
  const row = { ...previous.row, ...(pending.isNew ? pending.row : applyTo(pending.row, previous.row)) };
  rows.set(name, { key: pending.key, row, isNew, isUpdate: pending.isUpdate === true && !isNew, isReplaced });
}

/** The old key of a row whose key has changed, for systems that write one event for the change and not two. */
function oldKeyOf(before: Columns | null, key: Columns): Columns | null {
  if (before === null) {
    return null;
  }
  const names = Object.keys(key);
  const isKnown = names.every((name) => Object.hasOwn(before, name) && before[name] !== UNAVAILABLE && before[name] !== null);
  const old = Object.fromEntries(names.map((name) => [name, before[name]]));
  return isKnown && nameOf(old) !== nameOf(key) ? old : null;
}

function keyOf(key: unknown, table: TableName): Columns {
  if (!isKey(key)) {
    const advice =
      (key ?? null) === null
        ? "give the source table a primary key, or set message.key.columns of the connector"
        : "its key is a single value, as StringConverter and ExtractField$Key leave it: let the connector write the columns of the key, in JSON or Avro";
    throw new PostgresSinkError(
      "key-missing",
      `a change of ${shownName(table)} has no key with named columns: ${advice}, or leave the table out: tableFor answers null for it`,
    );
  }
  return key;
}

function isKey(key: unknown): key is Columns {
  return typeof key === "object" && key !== null && !(key instanceof Uint8Array) && !Array.isArray(key) && Object.keys(key).length > 0;
}

function keyNameOf(key: unknown): string | null {
  return isKey(key) ? nameOf(key) : null;
}

/**
 * By the texts that PostgreSQL reads, in the order of their names: after an integer of the source has become a longer one, 1 may be a bigint or a
 * text, and a connector may be told another order. The row is the same, and its delete must not be another row's.
 */
function nameOf(key: Columns): string {
  const texts = Object.entries(key).map(([name, value]) => [name, keyText(value)] as const);
  return JSON.stringify(texts.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Zero has one text: PostgreSQL's -0 equals it. */
function keyText(value: unknown): string | null {
  return value === 0 ? "0" : value === UNAVAILABLE ? null : valueText(value, "text");
}
