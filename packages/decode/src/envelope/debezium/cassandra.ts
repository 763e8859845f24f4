import type { CdcEvent, Columns, Operation, TableName } from "../../event.ts";
import { setProperty } from "../../set-property.ts";
import { EnvelopedChange } from "../change-event.ts";
import type { Origin } from "../origin.ts";
import { isBlock } from "../source.ts";
import { withoutCells } from "../cells.ts";
import type { Change } from "./change.ts";
import { listWith } from "../../list-with.ts";

/** Cassandra's own operation letters. `r` is the tombstone of a range, which is a delete, not a snapshot's read. */
const operations: ReadonlyMap<string, Operation> = new Map([
  ["i", "create"],
  ["u", "update"],
  ["d", "delete"],
  ["r", "delete"],
]);

/**
 * The change of a Cassandra row, whose columns are cells. A delete also has its columns in `after`. They are the key, or the part of the
 * key that all deleted rows share. The bounds of a deleted range stay in the row as `_range_start` and `_range_end`.
 */
export function openCassandraChange(op: string, change: Change, table: TableName, origin: Origin): readonly CdcEvent[] | null {
  const operation = operations.get(op.toLowerCase());
  const image = change["after"] ?? null;
  if (operation === undefined || (image !== null && !isBlock(image))) {
    return null;
  }
  const row = image === null ? null : withoutCells(image);
  const isDelete = operation === "delete";
  const [before, after] = isDelete ? [row && whatIsLeft(row), null] : [null, row];
  const { source, transaction, ts_ms } = change; // the event must not keep the cells
  return listWith(new EnvelopedChange(operation, table, before, after, { source, transaction, ts_ms }, origin));
}

/**
 * The columns of a deleted row that identify it. A delete sets every other column to null, but null was not the value before the delete.
 */
function whatIsLeft(row: Columns): Columns {
  const columns: Columns = {};
  for (const name of Object.keys(row)) {
    if (row[name] !== null) {
      setProperty(columns, name, row[name]);
    }
  }
  return columns;
}
