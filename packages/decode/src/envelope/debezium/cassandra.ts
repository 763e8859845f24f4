import type { CdcEvent, Operation, TableName } from "../../event.ts";
import { EnvelopedChange } from "../change-event.ts";
import type { Origin } from "../envelope.ts";
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
 * Columns are cells, and those of a delete stand in `after` too: what is left of the row is its key. A range's ends stay in the row, as
 * `_range_start` and `_range_end`.
 */
export function openCassandraChange(op: string, change: Change, table: TableName, origin: Origin): readonly CdcEvent[] | null {
  const operation = operations.get(op.toLowerCase());
  const image = change["after"] ?? null;
  if (operation === undefined || (image !== null && !isBlock(image))) {
    return null;
  }
  const row = image === null ? null : withoutCells(image);
  const isDelete = operation === "delete";
  const { source, transaction, ts_ms } = change;
  return [new EnvelopedChange(operation, table, isDelete ? row : null, isDelete ? null : row, source, transaction, ts_ms, origin)];
}
