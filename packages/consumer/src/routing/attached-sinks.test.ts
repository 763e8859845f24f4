import type { CdcEvent, SchemaSeen, TableName } from "@cdckit/decode";
import { expect, test } from "vitest";
import { silentLogger } from "../observe/logger.ts";
import type { Sink } from "../sink.ts";
import { AttachedSinks } from "./attached-sinks.ts";
import { MatchWatch } from "./match-watch.ts";

test("a sink hears of the schemas of tables that it takes, and of no others", () => {
  const sinks = new AttachedSinks({
    watch: new MatchWatch(),
    isTopic: (text) => text === "s.outbox",
    logger: silentLogger,
    fail: () => {},
  });
  const heard: Record<string, string[]> = { all: [], orders: [], topic: [] };
  const sinkNamed = (name: string): Sink => ({
    name,
    claim: async () => [],
    apply: async () => {},
    schemaSeen: ({ topic, table }) => heard[name]?.push(table?.name ?? topic),
    close: async () => {},
  });
  sinks.add(sinkNamed("all"), {});
  sinks.add(sinkNamed("orders"), { tables: ["public.orders", "customers"] });
  sinks.add(sinkNamed("topic"), { tables: ["s.outbox"] });
  const see = (topic: string, table: TableName | null): void => sinks.schemaSeen({ topic, table } as SchemaSeen);
  see("s", { schema: "public", name: "orders" });
  see("s", { schema: "other", name: "orders" });
  see("s", { schema: "public", name: "customers" });
  see("s.outbox", { schema: "public", name: "outbox" });
  see("s.outbox", null);
  expect(heard).toEqual({
    all: ["orders", "orders", "customers", "outbox", "s.outbox"],
    orders: ["orders", "customers"],
    topic: ["outbox", "s.outbox"],
  });
});

const quiet: Sink = { name: "copy", claim: async () => [], apply: async () => {}, close: async () => {} };

function takerOf(tables: string[], sink: Sink = quiet): { readonly takes: (event: object) => boolean; readonly watch: MatchWatch } {
  const watch = new MatchWatch();
  const sinks = new AttachedSinks({ watch, isTopic: () => false, logger: silentLogger, fail: () => {} });
  sinks.add(sink, { tables });
  return { watch, takes: (event) => sinks.all[0]?.takes(event as CdcEvent) === true };
}

test.each([
  ["rows without an envelope", { kind: "row" }],
  ["flattened rows", { kind: "change", op: "create", envelope: "flattened" }],
])("a sink of some tables gets the tombstones of a topic whose %s it takes, whatever table the topic's name says", (_, form) => {
  const { takes, watch } = takerOf(["orders"]);
  const tombstone = { kind: "tombstone", table: { name: "cdc-orders-v1" }, record: { topic: "cdc-orders-v1" } };
  const other = { kind: "tombstone", table: { name: "cdc-customers-v1" }, record: { topic: "cdc-customers-v1" } };
  expect([takes(tombstone), watch.reasons([])]).toEqual([
    false,
    [expect.objectContaining({ text: expect.stringContaining("has taken nothing") })],
  ]);
  expect(takes({ ...form, table: { name: "orders" }, record: { topic: "cdc-orders-v1" } })).toBe(true);
  expect(takes({ ...form, table: { name: "customers" }, record: { topic: "cdc-customers-v1" } })).toBe(false);
  expect([takes(tombstone), takes(tombstone), takes(other)]).toEqual([true, true, false]);
  const [early, later, ...more] = watch.reasons([]).map(({ text }) => text);
  expect(early).toContain(
    "did not get a tombstone of the topic cdc-orders-v1 that came before its first row was read, and each may be a delete",
  );
  expect([later?.includes('Set decoder.topics["cdc-orders-v1"].table'), more]).toEqual([true, []]);
});

const flattened = { kind: "change", envelope: "flattened", record: { topic: "many" } };
const ofMany = { kind: "tombstone", table: { name: "many" }, record: { topic: "many", partition: 0, offset: 7n } };

test("a tombstone is refused if rows of its topic are of tables that the sink takes and of others, and nothing says whose it is", () => {
  const { takes } = takerOf(["orders"]);
  takes({ ...flattened, op: "create", table: { name: "orders" } });
  takes({ ...flattened, op: "create", table: { name: "customers" } });
  expect(() => takes(ofMany)).toThrow("[table-unknown] the tombstone at many[0] offset 7 may be a delete, and nothing says of which table");
  expect(takes({ ...ofMany, table: { name: "orders" } })).toBe(true);
  expect(takes({ ...ofMany, table: { name: "customers" } })).toBe(false);
});

test("a tombstone of a topic that is called like a table of the sink is refused if the topic's rows are of others, and is no delete after one", () => {
  const { takes } = takerOf(["many"]);
  expect(takes(ofMany)).toBe(true);
  takes({ ...flattened, op: "create", table: { name: "customers" } });
  expect(() => takes(ofMany)).toThrow("[table-unknown] the tombstone at many[0] offset 7 may be a delete");
  takes({ ...flattened, op: "delete", table: { name: "customers" } });
  expect(takes(ofMany)).toBe(false);
  const ofChanges = takerOf(["many"]);
  ofChanges.takes({ kind: "change", op: "delete", envelope: "debezium", table: { name: "customers" }, record: { topic: "many" } });
  expect(ofChanges.takes(ofMany)).toBe(false);
});

test("a tombstone among messages of an outbox is no delete, also if their topic is called like a table of the sink", () => {
  const { takes } = takerOf(["orders"]);
  const record = { topic: "outbox.event.orders" };
  takes({ kind: "row", envelope: "outbox", table: null, record });
  expect(takes({ kind: "tombstone", table: { schema: "event", name: "orders" }, record })).toBe(false);
});

test("a tombstone after a delete that is a row is no delete", () => {
  const { takes } = takerOf(["orders"]);
  takes({ ...flattened, op: "create", table: { name: "orders" } });
  takes({ ...flattened, op: "delete", table: { name: "customers" } });
  expect(takes(ofMany)).toBe(false);
});

test("a sink that knows whose rows tombstones are is asked, until the topic has rows that it leaves out alone", () => {
  const { takes, watch } = takerOf(["orders"], { ...quiet, readsLeftOut: true });
  expect([takes(ofMany), takes({ ...ofMany, table: { name: "customers" } })]).toEqual([true, false]);
  takes({ ...flattened, op: "create", table: { name: "customers" } });
  expect(takes(ofMany)).toBe(false);
  takes({ ...flattened, op: "create", table: { name: "orders" } });
  expect([takes(ofMany), watch.reasons([]).length]).toEqual([true, 1]);
});

test("a tombstone after a delete in an envelope is of no table that the sink left out", () => {
  const { takes } = takerOf(["orders"]);
  expect(takes({ kind: "change", op: "delete", envelope: "debezium", table: { name: "orders" }, record: { topic: "many" } })).toBe(true);
  expect(takes({ kind: "tombstone", table: { name: "many" }, record: { topic: "many" } })).toBe(false);
});

test("a wildcard among the tables of a sink is refused, which would match nothing", () => {
  expect(() => takerOf(["orders", "public.*"])).toThrow(
    '[invalid-handler] to() tables expects a name without wildcards, got "public.*": name each table or topic, or give "*" alone',
  );
  expect(takerOf(["*"]).takes({ kind: "change", op: "create", table: { name: "orders" }, record: { topic: "t" } })).toBe(true);
});
