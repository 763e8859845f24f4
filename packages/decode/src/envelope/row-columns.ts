import type { Columns } from "../event.ts";
import { setProperty } from "../set-property.ts";

/** A row with these columns alone, in the row's order. The row itself if it has no others. */
export function withColumns(row: Columns, columns: ReadonlySet<string>): Columns {
  const names = Object.keys(row);
  const kept = names.filter((name) => columns.has(name));
  if (kept.length === names.length) {
    return row;
  }
  const selected: Columns = {};
  for (const name of kept) {
    setProperty(selected, name, row[name]);
  }
  return selected;
}
