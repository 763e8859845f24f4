import type { Shape } from "../envelope.ts";

/** Source fields that `add.fields` and `add.headers` of ExtractNewRecordState are asked for, with its default prefix before them. */
const metaNames: ReadonlySet<string> = new Set(
  (
    "deleted op table db schema collection keyspace connector name version snapshot sequence ts_ms ts_us ts_ns lsn txId xmin gtid file pos row " +
    "server_id thread query change_lsn commit_lsn event_serial_no scn commit_scn origin origin_lsn"
  )
    .split(" ")
    .map((name) => `__${name}`),
);

/** Whether a column is one that the transformation added. A user's own `__v` is not. */
export function isMetaColumn(name: string): boolean {
  return metaNames.has(name) || name.startsWith("__source_") || name.startsWith("__transaction_");
}

/** Columns or headers that say it alone. */
export const telling: readonly string[] = ["__deleted", "__op", "__table"];

/** What says that a row was flattened by Debezium's ExtractNewRecordState, or null. */
export function recogniseFlattened({ fields, headerNames }: Shape): string | null {
  if (fields === null || (fields.includes("op") && fields.includes("source"))) {
    return null;
  }
  const column = telling.find((name) => fields.includes(name)) ?? fields.find((name) => name.startsWith("__source_"));
  if (column !== undefined) {
    return `column ${column}`;
  }
  const header = telling.find((name) => headerNames.includes(name));
  return header === undefined ? null : `header ${header}`;
}
