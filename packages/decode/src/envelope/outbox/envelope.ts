import { isUtf8 } from "node:buffer";
import { readEverything } from "../../encoding/reader.ts";
import { isDecodeError } from "../../errors.ts";
import type { CdcEvent } from "../../event.ts";
import { PlainRow, UnknownValue } from "../control-events.ts";
import type { EnvelopeFormat, EnvelopeScope } from "../envelope.ts";
import type { Origin } from "../origin.ts";
import { isBlock } from "../source.ts";
import { isCertain, outboxHeaders, recogniseOutbox } from "./recognise.ts";
import { listWith } from "../../list-with.ts";

/**
 * Events that Debezium's outbox router took out of their table. The payload of such an event is a message of an application, not a row of a
 * table. The event is of kind `row`, `row` is the payload, and `table` is null. The key is the aggregate's id. The event's id, its type and
 * other columns are headers (`event.record.headers`). If the converter wrote the payload as text, the text is parsed. If there are other
 * columns, the payload is under the name `payload`. A payload that is not an object gives an event of kind `unknown`.
 */
export const outbox: EnvelopeFormat = {
  name: "outbox",
  headerNames: outboxHeaders,
  recognise: recogniseOutbox,
  planFor: () => readEverything,
  open,
};

function open(value: unknown, origin: Origin): readonly CdcEvent[] | null {
  // The router's key is a single value. A row of which somebody has copied a column into a header has a key with columns, or none.
  if (
    (origin.key === null || isRow(origin.key)) &&
    !isCertain({ topic: origin.scope.topic, headerNames: origin.headers.map(([name]) => name) })
  ) {
    return null;
  }
  const payload = parsed(value, origin.scope);
  if (!isRow(payload)) {
    return listWith(new UnknownValue(payload, origin));
  }
  const row = typeof payload["payload"] === "string" ? { ...payload, payload: parsed(payload["payload"], origin.scope) } : payload;
  return listWith(new PlainRow(row, origin, null));
}

/** Parses text or bytes that hold a JSON document. Returns any other value as it is. */
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
