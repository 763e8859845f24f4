import { type CdcEvent, claimCheckOf, createDecoder, debeziumContext, type KafkaRecord, signalOf } from "@cdckit/decode";
import { recordOf } from "@cdckit/testkit";
import { describe, expect, test } from "vitest";

/** What Debezium says in rows and headers that is no data: its signals, where a large value was put, which connector it was. */

const source = {
  version: "3.5.0.Final",
  connector: "postgresql",
  name: "p",
  ts_ms: 1,
  db: "d",
  schema: "public",
  table: "debezium_signal",
};

function decode(value: object, headers: KafkaRecord["headers"] = []): CdcEvent {
  const record = recordOf(JSON.stringify(value), { topic: "p.public.t", headers });
  return (createDecoder().decode(record) as CdcEvent[])[0] as CdcEvent;
}

function change(op: string, before: object | null, after: object | null): CdcEvent {
  return decode({ op, before, after, source, ts_ms: 2 });
}

describe("rows of the signal table", () => {
  // As SourceSignalChannel and SignalBasedIncrementalSnapshotChangeEventSource write them.
  const open = { id: "3a1b-open", type: "snapshot-window-open", data: null };
  const execute = { ID: "a", TYPE: "execute-snapshot", DATA: '{"data-collections":["public.t"],"type":"incremental"}' };

  test("are told from the rows of other tables", () => {
    expect(signalOf(change("c", null, open))).toEqual(open);
    expect(signalOf(change("d", open, null))).toEqual(open);
    expect(signalOf(change("c", null, execute))).toEqual({ id: "a", type: "execute-snapshot", data: execute.DATA });
  });

  test("and nothing else is taken for one", () => {
    expect(signalOf(change("c", null, { ...open, type: "blue" }))).toBe(null);
    expect(signalOf(change("c", null, { ...open, more: 1 }))).toBe(null);
    expect(signalOf(change("c", null, { type: "log", id: "a", data: null }))).toBe(null);
    expect(signalOf(change("c", null, { ...open, id: 1 }))).toBe(null);
    expect(signalOf(decode({ status: "BEGIN", id: "1", event_count: null, data_collections: null, ts_ms: 1 }))).toBe(null);
  });
});

test("a reference to a large value stays the text that was sent, and says where the value is", () => {
  const text = "__debezium:s3:ref:v1:media|/db=d/table=t/ts_ms=1/photo/after";
  const event = change("c", null, { id: 1, photo: text, note: "none" });
  const row = event.kind === "change" ? event.after : null;
  expect(row?.["photo"]).toBe(text);
  expect(claimCheckOf(row?.["photo"])).toEqual({ bucket: "media", key: "/db=d/table=t/ts_ms=1/photo/after" });
  expect(claimCheckOf(row?.["note"])).toBe(null);
});

describe("the headers of a connector's context", () => {
  const names = ["connectorLogicalName", "taskId", "connectorName", "runId"] as const;
  const said = { connectorLogicalName: "p", taskId: "0", connectorName: "postgresql", runId: "019f6368-c503-7d1e-8d07-3ff4d6dafdd1" };

  test.each<[string, (text: string) => string]>([
    ["bare text", (text) => text],
    ["JSON", (text) => JSON.stringify(text)],
    ["JSON with schema", (text) => JSON.stringify({ schema: { type: "string", optional: false }, payload: text })],
  ])("are read where they are %s", (_, write) => {
    const headers = names.map((name) => [`__debezium.context.${name}`, Buffer.from(write(said[name]))] as const);
    expect(debeziumContext(decode({ id: 1 }, headers))).toEqual(said);
  });

  test("leave out what they do not say", () => {
    expect(debeziumContext(decode({ id: 1 }, [["__debezium.context.taskId", Buffer.from("3")]]))).toEqual({
      connectorLogicalName: null,
      connectorName: null,
      taskId: "3",
      runId: null,
    });
    expect(debeziumContext(decode({ id: 1 }, [["trace", Buffer.from("3")]]))).toBe(null);
  });
});
