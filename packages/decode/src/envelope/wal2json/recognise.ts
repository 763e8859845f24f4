import type { Shape } from "../envelope.ts";
import { lsnOf } from "./row-events.ts";

const transactionFields: ReadonlySet<string> = new Set(["xid", "nextlsn", "lsn", "timestamp", "origin"]);

/** Recognises wal2json's formats: format 1 has a transaction in each message, format 2 has a tuple in each message. */
export function recogniseWal2json({ fields }: Shape): string | null {
  if (fields === null) {
    return null;
  }
  if (fields.includes("change") && fields.every((name) => name === "change" || transactionFields.has(name))) {
    return "the field change, beside none but a transaction's";
  }
  if (!fields.includes("action")) {
    return null;
  }
  if (fields.includes("schema") && fields.includes("table") && (fields.some(isOfRow) || mayBeOwn(fields))) {
    return "fields action, schema and table";
  }
  if (fields.includes("prefix") && fields.includes("content") && mayBeOwn(fields)) {
    return "fields action, prefix and content";
  }
  return fields.every((name) => name === "action" || transactionFields.has(name))
    ? "the field action, beside none but a transaction's"
    : null;
}

const members: ReadonlySet<string> = new Set([
  ...transactionFields,
  ...["action", "schema", "table", "columns", "identity", "pk", "transactional", "prefix", "content"],
]);

/** Lists of columns, which a message about a row has. */
function isOfRow(name: string): boolean {
  return name === "columns" || name === "identity";
}

/** Whether a message without a row may be wal2json's. Its values decide, when it is opened. */
function mayBeOwn(fields: readonly string[]): boolean {
  return fields.includes("lsn") || fields.includes("nextlsn") || fields.every((name) => members.has(name));
}

const rowMembers: ReadonlySet<string> = new Set(["columns", "identity", "pk"]);

/**
 * Whether a truncate or a message is wal2json's own: it has no other members, or a position in PostgreSQL's log. A log of who did what has an
 * action, a schema and a table, too. If it also has columns of its own (one of them may be called `columns`), its "T" truncates nothing.
 */
export function isOwnWithoutRow(value: Readonly<Record<string, unknown>>): boolean {
  return (
    lsnOf(value["lsn"]) !== undefined ||
    lsnOf(value["nextlsn"]) !== undefined ||
    Object.keys(value).every((name) => members.has(name) && (!rowMembers.has(name) || value[name] === null))
  );
}

/** The members of a message. Format 1 is recognised only if a message has no others. */
export function membersOfWal2json({ fields }: Shape): ReadonlySet<string> {
  return fields?.includes("change") === true ? new Set(fields) : members;
}
