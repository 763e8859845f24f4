import type { CdcEvent, Columns } from "../../event.ts";
import { PlainRow, UnknownValue } from "../control-events.ts";
import type { EnvelopeFormat } from "../envelope.ts";
import type { Origin } from "../origin.ts";
import { isBlock } from "../source.ts";
import { recogniseRow } from "./recognise.ts";
import { listWith } from "../../list-with.ts";

/** No envelope: the value is the row. */
export const none: EnvelopeFormat = {
  name: "none",
  recognise: recogniseRow,
  planFor: () => ({ defer: null, skip: [], rows: "self", isSelectable: true }),
  sharesSemantics: () => true,
  open,
};

function open(value: unknown, origin: Origin): readonly CdcEvent[] {
  return listWith(isRow(value) ? new PlainRow(value, origin) : new UnknownValue(value, origin));
}

/**
 * Whether a value is a record with columns. A value of a single column (a Buffer, a Date, a Map, the result of a user's function) is not a
 * row.
 */
function isRow(value: unknown): value is Columns {
  const prototype: unknown = isBlock(value) ? Object.getPrototypeOf(value) : undefined;
  return prototype === Object.prototype || prototype === null;
}
