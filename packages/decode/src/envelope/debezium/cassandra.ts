import type { CdcEvent, Columns, Operation, TableName } from "../../event.ts";
import { setProperty } from "../../set-property.ts";
import { EnvelopedChange } from "../change-event.ts";
import type { Origin } from "../origin.ts";
import { isBlock } from "../source.ts";
import { withoutCells } from "./cells.ts";
import type { Change } from "./change.ts";

/** Cassandra's own letters: `r` is the tombstone of a range, which is a delete, and no read of a snapshot. */
const operations: ReadonlyMap<string, Operation> = new Map([
  ["i", "create"],
  ["u", "update"],
  ["d", "delete"],
  ["r", "delete"],
]);

/**
 * Columns are cells, and those of a delete stand in `after` too: what is left of the row is its key, or the part of it that all deleted
 * rows share. A range's ends stay in the row, as `_range_start` and `_range_end`.
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
  const { source, transaction, ts_ms } = change; // and not its cells
  return [new EnvelopedChange(operation, table, before, after, { source, transaction, ts_ms }, origin)];
}

/** A delete sets every other column to null. That is no value it had before. */
function whatIsLeft(row: Columns): Columns {
  const columns: Columns = {};
  for (const name of Object.keys(row)) {
    if (row[name] !== null) {
      setProperty(columns, name, row[name]);
    }
  }
  return columns;
}
