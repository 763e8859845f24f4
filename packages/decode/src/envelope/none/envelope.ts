import type { CdcEvent } from "../../event.ts";
import { PlainRow, UnknownValue } from "../control-events.ts";
import type { EnvelopeFormat, Origin } from "../envelope.ts";
import { isBlock } from "../source.ts";
import { recogniseRow } from "./recognise.ts";

/** No envelope: the value is the row. */
export const none: EnvelopeFormat = {
  name: "none",
  recognise: recogniseRow,
  planFor: () => ({ defer: null, skip: [], rows: "self" }),
  open,
};

function open(value: unknown, origin: Origin): readonly CdcEvent[] {
  return isBlock(value) && !(value instanceof Map) && !Buffer.isBuffer(value)
    ? [new PlainRow(value, origin)]
    : [new UnknownValue(value, origin)];
}
