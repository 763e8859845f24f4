import { isUtf8 } from "node:buffer";
import { readEverything } from "../../encoding/reader.ts";
import { isDecodeError } from "../../errors.ts";
import type { CdcEvent } from "../../event.ts";
import { PlainRow, UnknownValue } from "../control-events.ts";
import type { EnvelopeFormat, EnvelopeScope } from "../envelope.ts";
import type { Origin } from "../origin.ts";
import { isBlock } from "../source.ts";
import { outboxHeaders, recogniseOutbox } from "./recognise.ts";

/**
 * Events that Debezium's outbox router took out of their table. Such an event is what an application says, and no row of a table: it is of
 * kind `row`, `row` being the payload, with a `table` of null. Its key is the aggregate's id; the event's own id, its type and other
 * columns are headers (`event.record.headers`). A payload that the converter wrote as text is parsed, whole or under the name `payload`
 * where other columns stand beside it; one that is no object is of kind `unknown`.
 */
export const outbox: EnvelopeFormat = {
  name: "outbox",
  headerNames: outboxHeaders,
  recognise: recogniseOutbox,
  planFor: () => readEverything,
  open,
};

function open(value: unknown, origin: Origin): readonly CdcEvent[] {
  const payload = parsed(value, origin.scope);
  if (!isRow(payload)) {
    return [new UnknownValue(payload, origin)];
  }
  const row = typeof payload["payload"] === "string" ? { ...payload, payload: parsed(payload["payload"], origin.scope) } : payload;
  return [new PlainRow(row, origin, null)];
}

/** Text or bytes that hold a JSON document, parsed; anything else as it is. */
function parsed(value: unknown, { parseJson }: EnvelopeScope): unknown {
  const text = value instanceof Uint8Array && isUtf8(value) ? Buffer.from(value).toString("utf8") : value;
  if (typeof text !== "string" || !/^\s*[{[]/.test(text)) {
    return value;
  }
  try {
    return parseJson(text);
  } catch (error) {
    if (isDecodeError(error)) {
      return value;
    }
    throw error;
  }
}

function isRow(value: unknown): value is Record<string, unknown> {
  return isBlock(value) && !(value instanceof Uint8Array);
}
