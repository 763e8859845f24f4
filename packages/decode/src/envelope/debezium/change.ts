import type { CdcEvent, Columns, TableName } from "../../event.ts";
import { EnvelopedChange } from "../change-event.ts";
import { listWith } from "../../list-with.ts";
import { Truncate } from "../control-events.ts";
import type { Origin } from "../origin.ts";
import { isBlock } from "../source.ts";
import { openMessage } from "./message.ts";
import { openLowWatermark } from "./spanner.ts";
import { operationOf } from "./operation.ts";

/** A message of a change topic. Its source may still be deferred. */
export type Change = Readonly<Record<string, unknown>>;

/**
 * The events of a change in the form of most connectors; null if the operation is not known. The images are parameters because a dialect
 * may have converted them first.
 */
export function openChange(
  op: string,
  change: Change,
  before: unknown,
  after: unknown,
  table: TableName,
  origin: Origin,
): readonly CdcEvent[] | null {
  const operation = operationOf(op);
  if (operation !== null && isImage(before) && isImage(after)) {
    return listWith(new EnvelopedChange(operation, table, before, after, change, origin));
  }
  switch (op) {
    case "t":
    case "T":
      return before === null && after === null ? listWith(new Truncate(table, change, origin)) : null;
    case "m":
    case "M":
      return before === null && after === null ? (openMessage(change, origin) ?? openLowWatermark(change, origin)) : null;
    default:
      return null;
  }
}

/** Whether a value is the image of a row: its columns, or null. */
export function isImage(value: unknown): value is Columns | null {
  return value === null || isBlock(value);
}
