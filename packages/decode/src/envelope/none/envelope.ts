import type { CdcEvent, TableName } from "../../event.ts";
import type { RecordBatch } from "../../record.ts";
import { PlainRow, UnknownValue } from "../control-events.ts";
import type { EnvelopeFormat, Route } from "../envelope.ts";
import { isBlock } from "../source.ts";
import { recogniseRow } from "./recognise.ts";

/** No envelope: the value is the row. */
export const none: EnvelopeFormat = {
  name: "none",
  recognise: recogniseRow,
  planFor: () => ({ defer: null, skip: [], rows: "self" }),
  open,
};

function open(
  value: unknown,
  key: unknown,
  route: Route,
  batch: RecordBatch,
  record: number,
  topicTable: TableName | null,
): readonly CdcEvent[] {
  return isBlock(value) && !(value instanceof Map) && !Buffer.isBuffer(value)
    ? [new PlainRow(value, topicTable, key, route, batch, record)]
    : [new UnknownValue(value, key, route, batch, record)];
}
