import { Deferred } from "../../encoding/reader.ts";
import type { CdcEvent, Columns, TableName } from "../../event.ts";
import { EnvelopedChange } from "../change-event.ts";
import { LogicalMessage, Truncate, UnknownValue } from "../control-events.ts";
import type { Origin } from "../envelope.ts";
import { isBlock } from "../source.ts";
import { operationOf } from "./operation.ts";

/** A message of the change topic, its source still to be read. */
export type Change = Readonly<Record<string, unknown>>;

/** The events of a change as most connectors write it. The two images are handed in: a dialect may have made rows of them first. */
export function openChange(
  op: string,
  change: Change,
  before: unknown,
  after: unknown,
  table: TableName,
  origin: Origin,
): readonly CdcEvent[] {
  const operation = operationOf(op);
  if (operation !== null && isImage(before) && isImage(after)) {
    return [new EnvelopedChange(operation, table, before, after, change["source"], change["transaction"], change["ts_ms"], origin)];
  }
  switch (op) {
    case "t":
    case "T":
      return [new Truncate(table, change, origin)];
    case "m":
    case "M":
      return [new LogicalMessage(change, origin)];
    default:
      return [unknownChange(change, origin)];
  }
}

/** A row's image: its columns, or nothing. */
function isImage(value: unknown): value is Columns | null {
  return value === null || isBlock(value);
}

/** Its source is read now: who takes the value apart should find what was sent. */
export function unknownChange(change: Change, origin: Origin): UnknownValue {
  const { source } = change;
  return new UnknownValue(source instanceof Deferred ? { ...change, source: source.value } : change, origin);
}
