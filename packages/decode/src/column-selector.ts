import type { Operation, TableName } from "./event.ts";

/** What happened to a row: the operation of a change, or `"row"` if a row came without an envelope. */
export type RowSlot = Operation | "row";

/**
 * The columns that are wanted of a table's rows; null if all of them are. The table of a row without an envelope is null if the topic does
 * not name it. The answer must not change, and it should be the same object for the same columns: readers are kept by it.
 */
export type ColumnSelector = (table: TableName | null, slot: RowSlot) => ReadonlySet<string> | null;
