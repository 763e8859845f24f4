import type { CdcEvent, TableName } from "../../event.ts";
import type { Origin } from "../origin.ts";
import { isBlock } from "../source.ts";
import { isCell, withoutCells } from "./cells.ts";
import { type Change, openChange } from "./change.ts";

/**
 * The events of a YugabyteDB record. The gRPC connector wraps each column, unless its transformation PGCompatible has removed the wrappers.
 */
export function openYugabytedbChange(op: string, change: Change, table: TableName, origin: Origin): readonly CdcEvent[] | null {
  const { before = null, after = null, ...declared } = change; // the event must not keep the wrappers
  return openChange(op, declared, unwrapped(before), unwrapped(after), table, origin);
}

/**
 * The row without wrappers. A column that was not sent is null and has no wrapper, so a row counts as wrapped if all of its other columns
 * are.
 */
function unwrapped(image: unknown): unknown {
  if (!isBlock(image)) {
    return image;
  }
  const sent = Object.values(image).filter((column) => column !== null);
  return sent.length > 0 && sent.every(isCell) ? withoutCells(image) : image;
}
