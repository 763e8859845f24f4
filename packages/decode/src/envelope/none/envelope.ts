import type { CdcEvent, Columns } from "../../event.ts";
import { PlainRow, UnknownValue } from "../control-events.ts";
import type { EnvelopeFormat } from "../envelope.ts";
import type { Origin } from "../origin.ts";
import { isBlock } from "../source.ts";
import { recogniseRow } from "./recognise.ts";

/** No envelope: the value is the row. */
export const none: EnvelopeFormat = {
  name: "none",
  recognise: recogniseRow,
  planFor: () => ({ defer: null, skip: [], rows: "self" }),
  sharesSemantics: () => true,
  open,
};

function open(value: unknown, origin: Origin): readonly CdcEvent[] {
  return [isRow(value) ? new PlainRow(value, origin) : new UnknownValue(value, origin)];
}

/** A record's columns. What a lone column became (a Buffer, a Date, a Map, what the user's own function made) is no row. */
function isRow(value: unknown): value is Columns {
  const prototype: unknown = isBlock(value) ? Object.getPrototypeOf(value) : undefined;
  return prototype === Object.prototype || prototype === null;
}
