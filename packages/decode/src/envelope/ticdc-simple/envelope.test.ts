import { recordOf } from "@cdckit/testkit";
import { expect, test } from "vitest";
import { createDecoder, type DecoderOptions } from "../../decoder.ts";
import type { KafkaRecord } from "../../record.ts";
import { SchemaChangeLearner } from "../../stream/learned-columns.ts";

const version = 447_984_074_911;
const columns = Object.entries({ id: "int", price: "decimal", born: "date", at: "timestamp" });
const bootstrap = {
  version: 1,
  type: "BOOTSTRAP",
  commitTs: 0,
  buildTs: 1,
  tableSchema: {
    schema: "inv",
    table: "orders",
    version,
    columns: columns.map(([name, mysqlType]) => ({ name, dataType: { mysqlType, length: 10, decimal: 2 } })),
    indexes: [{ name: "primary", primary: true, columns: ["id"] }],
  },
};
const data = { id: "7", price: "12.30", born: "2024-02-29", at: { location: "UTC", value: "2024-02-29 12:00:00" } };
const insert = {
  version: 1,
  database: "inv",
  table: "orders",
  type: "INSERT",
  commitTs: 447_984_099_186,
  buildTs: 1,
  schemaVersion: version,
  data,
};

const asText = { id: "7", price: "12.30", born: "2024-02-29", at: "2024-02-29T12:00:00Z" };
const typed = { ...asText, id: 7 };

/** The row and its key, after the messages that come before it. */
function rowOf(options: DecoderOptions, ...messages: readonly object[]): unknown {
  const decoder = createDecoder(options);
  const events = messages.map((message, i) => {
    const value = Buffer.from(JSON.stringify(message));
    const found = decoder.decode(recordOf(value, { topic: "simple", offset: BigInt(i) }));
    return found instanceof Promise ? null : found[0];
  });
  const event = events.at(-1);
  return event?.kind === "change" ? { key: event.key, after: event.after } : event;
}

test("without an opt-in, a row is the same before and after its schema message", () => {
  expect(rowOf({}, insert)).toEqual({ key: null, after: asText });
  expect(rowOf({}, bootstrap, insert)).toEqual({ key: null, after: asText });
});

test("with a learner, a row that comes after its schema message has its types and its key, in a later decoder too", () => {
  const learn = { schemaChanges: new SchemaChangeLearner() };
  expect(rowOf({ learn }, insert)).toEqual({ key: null, after: asText });
  expect(rowOf({ learn }, bootstrap, insert)).toEqual({ key: { id: 7 }, after: typed });
  expect(rowOf({ learn, values: { decimal: "number" } }, insert)).toEqual({ key: { id: 7 }, after: { ...typed, price: 12.3 } });
});

test("explain() learns nothing from a schema message, and explains a row as it would be decoded", async () => {
  const learn = { schemaChanges: new SchemaChangeLearner() };
  const { decode, explain } = createDecoder({ learn });
  const [schema, row] = [bootstrap, insert].map((message) => recordOf(JSON.stringify(message), { topic: "simple" }));
  expect((await explain(schema as KafkaRecord)).error).toBe(null);
  expect(rowOf({ learn }, insert)).toEqual({ key: null, after: asText });
  await decode(schema as KafkaRecord);
  expect((await explain(row as KafkaRecord)).error).toBe(null);
  expect(rowOf({ learn }, insert)).toEqual({ key: { id: 7 }, after: typed });
});

test("hints decide the meaning of columns before and after the schema message, with a learner or without", () => {
  const price = { name: "org.apache.kafka.connect.data.Decimal", parameters: { scale: "2" } };
  const values = { decimal: "number" } as const;
  const options: DecoderOptions = { values, topics: { simple: { columns: { id: "tidb.int", price } } } };
  const hinted = { ...asText, id: 7, price: 12.3 };
  expect(rowOf(options, insert)).toEqual({ key: null, after: hinted });
  expect(rowOf(options, bootstrap, insert)).toEqual({ key: null, after: hinted });
  const learning = { ...options, learn: { schemaChanges: new SchemaChangeLearner() } };
  expect(rowOf(learning, bootstrap, insert)).toEqual({ key: { id: 7 }, after: hinted });
});
