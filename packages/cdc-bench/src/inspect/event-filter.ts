import type { CdcEvent, TableName } from "@cdckit/decode";
import { InvalidArgumentError } from "commander";
import { toJsonText } from "../report/json-text.ts";

/** A column that must have this value. */
export interface ColumnFilter {
  readonly column: string;
  readonly value: string;
}

/** What is asked of an event. What is null or empty asks nothing. */
export interface EventFilter {
  /** The key as text, or as JSON. */
  readonly key: string | null;
  /** Any of them: the whole name of a table, or an end of it. */
  readonly tables: readonly string[];
  readonly ops: readonly string[];
  readonly kinds: readonly string[];
  /** All of them. */
  readonly columns: readonly ColumnFilter[];
}

const kinds: Readonly<Record<CdcEvent["kind"], true>> = {
  change: true,
  row: true,
  tombstone: true,
  truncate: true,
  message: true,
  transaction: true,
  heartbeat: true,
  "schema-change": true,
  notification: true,
  watermark: true,
  unknown: true,
};

/** The operations by their names, and by the letters that Debezium writes. */
const ops: Readonly<Record<string, string>> = {
  ...{ create: "create", update: "update", delete: "delete", read: "read" },
  ...{ c: "create", u: "update", d: "delete", r: "read" },
};

/** `--op create,delete`. */
export function collectOps(text: string, before: readonly string[] = []): readonly string[] {
  return [
    ...before,
    ...namesOf(text).map((name) => (Object.hasOwn(ops, name) ? (ops[name] ?? name) : refuse("create, update, delete or read"))),
  ];
}

/** `--kind change,tombstone`. */
export function collectKinds(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, ...namesOf(text).map((name) => (Object.hasOwn(kinds, name) ? name : refuse(Object.keys(kinds).join(", "))))];
}

/** One `--where COLUMN=VALUE`, added to those before it. */
export function collectColumn(text: string, before: readonly ColumnFilter[] = []): readonly ColumnFilter[] {
  const at = text.indexOf("=");
  if (at < 1) {
    throw new InvalidArgumentError("It must be COLUMN=VALUE, such as state=shipped or id=17.");
  }
  return [...before, { column: text.slice(0, at), value: text.slice(at + 1) }];
}

export function isEmptyFilter({ key, tables, ops: named, kinds: wanted, columns }: EventFilter): boolean {
  return key === null && tables.length + named.length + wanted.length + columns.length === 0;
}

export function matchesEvent(filter: EventFilter, event: CdcEvent): boolean {
  return (
    (filter.kinds.length === 0 || filter.kinds.includes(event.kind)) &&
    (filter.ops.length === 0 || ("op" in event && filter.ops.includes(event.op))) &&
    (filter.tables.length === 0 || ("table" in event && filter.tables.some((name) => isNamed(event.table, name)))) &&
    (filter.key === null || isValue(event.key, filter.key)) &&
    filter.columns.every((column) => rowsOf(event).some((row) => hasColumn(row, column)))
  );
}

function namesOf(text: string): readonly string[] {
  return text.split(/[\s,]+/).filter((name) => name !== "");
}

function refuse(allowed: string): never {
  throw new InvalidArgumentError(`It must be one of ${allowed}, or several separated by commas.`);
}

/** Whether the table has this name, or its whole name ends with it. */
function isNamed(table: TableName | null, name: string): boolean {
  if (table === null) {
    return false;
  }
  const whole = [table.database, table.schema, table.name].filter((part) => part !== undefined).join(".");
  return whole === name || whole.endsWith(`.${name}`);
}

/** Where an event has columns. A tombstone has those of its key. */
function rowsOf(event: CdcEvent): readonly unknown[] {
  switch (event.kind) {
    case "change":
      return [event.before, event.after, event.key];
    case "row":
      return [event.row, event.key];
    case "unknown":
      return [event.value, event.key];
    default:
      return [event.key];
  }
}

function hasColumn(row: unknown, { column, value }: ColumnFilter): boolean {
  if (typeof row !== "object" || row === null || !Object.hasOwn(row, column)) {
    return false;
  }
  return isValue((row as Readonly<Record<string, unknown>>)[column], value);
}

/** Whether a value is written so: as text without its quotes, or as JSON with spaces wherever JSON has them. */
function isValue(value: unknown, wanted: string): boolean {
  if (value === wanted) {
    return true;
  }
  const text = toJsonText(value);
  return text === JSON.stringify(wanted) || text === withoutSpaces(wanted);
}

/** JSON without the spaces outside of its texts. */
function withoutSpaces(json: string): string {
  return json.replaceAll(/("(?:[^"\\]|\\.)*")|\s+/g, "$1");
}
