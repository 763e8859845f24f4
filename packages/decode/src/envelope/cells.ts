import type { Columns } from "../event.ts";
import { setProperty } from "../set-property.ts";
import { isBlock } from "./source.ts";

/** A column in its wrapper. Connectors that have to tell "set to null" from "not changed" write columns in this form. */
interface Cell {
  readonly value: unknown;
  readonly set: unknown;
}

function isCell(value: unknown): value is Cell {
  return isBlock(value) && Object.hasOwn(value, "value") && Object.hasOwn(value, "set");
}

/** The columns that the change set, without their wrappers. Columns that the change did not set are absent. */
export function withoutCells(row: Columns): Columns {
  const columns: Columns = {};
  for (const name of Object.keys(row)) {
    const cell = row[name];
    if (!isCell(cell)) {
      if (cell !== null) {
        setProperty(columns, name, cell);
      }
    } else if (cell.set !== false) {
      setProperty(columns, name, cell.value);
    }
  }
  return columns;
}

/** Whether the first column that was sent has a wrapper: enough to see of most rows that they have none. The key's, if the row has none. */
export function beginsWithWrapper(row: unknown, key: unknown): boolean {
  return isCell(firstColumn(row) ?? firstColumn(key));
}

function firstColumn(image: unknown): unknown {
  if (isBlock(image)) {
    for (const name in image) {
      const column = image[name];
      if (column !== null) {
        return column;
      }
    }
  }
  return undefined;
}

/**
 * The row or key without wrappers. A column that was not sent is null and has no wrapper, so a row counts as wrapped if all of its other
 * columns are.
 */
export function withoutWrappers(image: unknown): unknown {
  if (!isBlock(image) || Buffer.isBuffer(image)) {
    return image;
  }
  let isWrapped = false;
  for (const name of Object.keys(image)) {
    const column = image[name];
    if (column !== null) {
      if (!isCell(column)) {
        return image;
      }
      isWrapped = true;
    }
  }
  return isWrapped ? withoutCells(image) : image;
}
