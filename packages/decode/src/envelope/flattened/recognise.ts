import type { Shape } from "../envelope.ts";

/** The default of `add.fields.prefix` and `add.headers.prefix`. */
export const defaultPrefix = "__";

/** Columns or headers that identify a flattened row alone. `__deleted` has this name with any prefix. */
export const markerNames: readonly string[] = ["__deleted", "__op", "__table"];

/** Fields of the envelope and its source that users name in `add.fields` and `add.headers` of ExtractNewRecordState, of every connector. */
const metaFields: ReadonlySet<string> = new Set(
  (
    "deleted op table db schema collection keyspace connector name version snapshot sequence ts_ms ts_us ts_ns lsn txId xmin gtid file pos row " +
    "server_id thread query change_lsn commit_lsn event_serial_no scn commit_scn origin origin_lsn begin_lsn lcr_position rs_id ssn redo_thread " +
    "redo_sql row_id user_name start_scn start_ts_ms commit_ts_ms txSeq ord rs lsid txnNumber wallTime shard vgtid"
  ).split(" "),
);

/** The field of the envelope in an added column, or null if the column belongs to the row (as a user's `__v` does). */
export function metaField(name: string, prefix: string): string | null {
  if (name === "__deleted") {
    return "deleted";
  }
  if (!name.startsWith(prefix)) {
    return null;
  }
  const field = name.slice(prefix.length);
  return metaFields.has(field) || field.startsWith("source_") || field.startsWith("transaction_") ? field : null;
}

/**
 * The prefix of the added columns. A prefix that the user has set is recognised by the operation, if there is another column that only the
 * transformation adds: `__deleted`, or the time of the source.
 */
export function prefixOf(names: readonly string[]): string {
  const isUsual = names.some((name) => name === "__op" || name === "__table" || name.startsWith("__source_"));
  return isUsual ? defaultPrefix : (ownPrefix(names) ?? defaultPrefix);
}

function ownPrefix(names: readonly string[]): string | null {
  for (const name of names) {
    const prefix = name.endsWith("op") ? name.slice(0, -"op".length) : "";
    if (prefix !== "" && (names.includes(`${prefix}source_ts_ms`) || (names.includes("__deleted") && names.includes(`${prefix}table`)))) {
      return prefix;
    }
  }
  return null;
}

/** The evidence that Debezium's ExtractNewRecordState flattened a row, or null. */
export function recogniseFlattened({ fields, headerNames }: Shape): string | null {
  if (fields === null) {
    return null;
  }
  const column = markerNames.find((name) => fields.includes(name)) ?? fields.find((name) => name.startsWith("__source_"));
  if (column !== undefined) {
    return `column ${column}`;
  }
  const header = markerNames.find((name) => headerNames.includes(name));
  if (header !== undefined) {
    return `header ${header}`;
  }
  const prefix = ownPrefix(fields);
  return prefix === null ? null : `columns ${prefix}op and ${prefix}source_ts_ms`;
}
