import { fromBundleText } from "@cdckit/registry";
import { recordOf } from "@cdckit/testkit";
import { expect, test } from "vitest";
import { type CdcEvent, createDecoder, type DecoderOptions, UNAVAILABLE } from "../../index.ts";

const row = {
  type: "record",
  name: "Value",
  fields: [
    { name: "id", type: "int" },
    { name: "note", type: "string" },
  ],
};
const source = { type: "record", name: "Source", fields: ["connector", "name", "db", "table"].map((name) => ({ name, type: "string" })) };
const envelope = {
  type: "record",
  name: "Envelope",
  namespace: "s.public.orders",
  fields: [
    { name: "before", type: ["null", row] },
    { name: "after", type: ["null", "Value"] },
    { name: "source", type: source },
    { name: "op", type: "string" },
  ],
};

const text = (value: string): Buffer => Buffer.concat([Buffer.of(value.length * 2), Buffer.from(value)]);
const change = Buffer.concat([
  Buffer.of(0, 2, 14), // no row before, and the row 7 after
  text("__debezium_unavailable_value"),
  ...["postgresql", "s", "d", "orders", "u"].map(text),
]);

function decode(schema: unknown, payload: Buffer, options: DecoderOptions = {}): CdcEvent | undefined {
  const schemas = fromBundleText(JSON.stringify({ id: 1, schemaType: "AVRO", schema: JSON.stringify(schema) }));
  const value = Buffer.concat([Buffer.of(0, 0, 0, 0, 1), payload]);
  return (createDecoder({ ...options, schemas }).decode(recordOf(value, { topic: "s.public.orders" })) as readonly CdcEvent[])[0];
}

test.each<[string, unknown, Buffer, unknown]>([
  ["as it is", envelope, change, null],
  ["optional", ["null", envelope], Buffer.concat([Buffer.of(2), change]), null],
  ["optional, with null last", [envelope, "null"], Buffer.concat([Buffer.of(0), change]), null],
  ["optional, read as one that is not", ["null", envelope], Buffer.concat([Buffer.of(2), change]), envelope],
  ["read as an optional one", envelope, change, ["null", envelope]],
])("an envelope in Avro is a change, with the columns that did not change: %s", (_, schema, payload, readerSchema) => {
  const topics = { "s.public.orders": { value: { readerSchema: JSON.stringify(readerSchema) } } };
  const event = decode(schema, payload, readerSchema === null ? {} : { topics });
  expect(event).toMatchObject({ kind: "change", op: "update", before: null, after: { id: 7, note: UNAVAILABLE } });
  expect(event).toMatchObject({ table: { database: "d", name: "orders" }, source: { connector: "postgresql", name: "s" } });
});

test("an optional envelope in Avro that is null is an unknown value", () => {
  expect(decode(["null", envelope], Buffer.of(0))).toMatchObject({ kind: "unknown", value: null });
});

test.each<[string, Record<string, unknown>]>([
  ["members", { op: "u" }],
  ["a source of its own", { op: "u", source: "web" }],
  ["a table and a time", { table: "SHOP.ORDERS", op_type: "U", op_ts: "2026-11-22 10:00:00.000000" }],
])("an application's log with %s that has an object before or after, and something else beside it, is a row", (_, more) => {
  const decoder = createDecoder();
  for (const [before, after] of [
    ["draft", { state: "published" }],
    [{ state: "published" }, 7],
    [[1], { state: "published" }],
    [null, { state: "published" }],
    ["draft", { state: "published" }],
  ]) {
    const value = { ...more, before, after };
    const [event] = decoder.decode(recordOf(Buffer.from(JSON.stringify(value)), { topic: "log" })) as readonly CdcEvent[];
    expect(event).toMatchObject(before === null && more["source"] === undefined ? { kind: "change", after } : { kind: "row", row: value });
  }
});
