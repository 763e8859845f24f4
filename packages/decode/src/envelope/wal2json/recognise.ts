import type { Shape } from "../envelope.ts";

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
  if (fields.includes("schema") && fields.includes("table") && (fields.some(isOfRow) || hasNoOthers(fields))) {
    return "fields action, schema and table";
  }
  if (fields.includes("prefix") && fields.includes("content") && hasNoOthers(fields)) {
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

/** A log of who did what has an action, a schema and a table, too. If it also has columns of its own, its "T" truncates nothing. */
function hasNoOthers(fields: readonly string[]): boolean {
  return fields.every((name) => members.has(name));
}

/** The members of a message. Format 1 is recognised only if a message has no others. */
export function membersOfWal2json({ fields }: Shape): ReadonlySet<string> {
  return fields?.includes("change") === true ? new Set(fields) : members;
}
