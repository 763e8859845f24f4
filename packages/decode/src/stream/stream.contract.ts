/** Events for the tests of this folder, decoded from real records. */
import { recordOf } from "@cdckit/testkit";
import { createDecoder, type Decoder } from "../decoder.ts";
import type { CdcEvent } from "../event.ts";

const decoder: Decoder = createDecoder();
let offset = 0n;

/** The one event of a JSON record. */
export function eventOf(
  topic: string,
  key: unknown,
  value: unknown,
  headers: Readonly<Record<string, unknown>> = {},
  partition = 0,
): CdcEvent {
  const events = decoder.decode(
    recordOf(value === null ? null : Buffer.from(JSON.stringify(value)), {
      topic,
      partition,
      offset: offset++,
      key: key === null ? null : Buffer.from(JSON.stringify(key)),
      headers: Object.entries(headers).map(([name, content]) => [name, Buffer.from(JSON.stringify(content))]),
    }),
  );
  const [event] = events as readonly CdcEvent[]; // plain JSON needs no schema, so there is no promise
  if (event === undefined) {
    throw new Error("expected a record with an event, found one without any");
  }
  return event;
}

/** Debezium's change of a row of `public.<table>`, at a position of PostgreSQL's log. */
export function changeOf(
  table: string,
  row: { readonly op?: string; readonly before?: unknown; readonly after?: unknown; readonly lsn?: number; readonly key?: unknown },
  transaction: { readonly id: string; readonly total_order?: number; readonly data_collection_order?: number } | null = null,
  headers: Readonly<Record<string, unknown>> = {},
  partition = 0,
): CdcEvent {
  const { op = "c", before = null, after = null, lsn = 1, key = { id: 1 } } = row;
  const source = {
    connector: "postgresql",
    name: "s",
    ts_ms: 1,
    snapshot: op === "r" ? "true" : "false",
    db: "d",
    schema: "public",
    table,
    txId: 1,
    lsn,
  };
  return eventOf(`s.public.${table}`, key, { before, after, source, op, ts_ms: 2, transaction }, headers, partition);
}

/** A record of the connector's transaction topic. */
export function boundaryOf(id: string, status: "BEGIN" | "END", counts: Readonly<Record<string, number>> = {}): CdcEvent {
  const collections = Object.entries(counts).map(([table, count]) => ({ data_collection: `public.${table}`, event_count: count }));
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const end = status === "END" ? { event_count: total, data_collections: collections } : { event_count: null, data_collections: null };
  return eventOf("s.transaction", { id }, { status, id, ts_ms: status === "BEGIN" ? 10 : 20, ...end });
}
