import { type CdcEvent, createDecoder, type KafkaRecord, type RegisteredSchema } from "@cdckit/decode";
import { recordOf } from "@cdckit/testkit";
import avsc from "avsc";
import { describe, expect, test } from "vitest";

const topic = "inv.public.orders";
const field = (name: string, type: unknown, more: object = {}): object => ({ name, type, ...more });
const rowSchema = (...fields: object[]): object => ({ type: "record", name: "Value", namespace: topic, fields });
const envelopeSchema = (row: object): object => ({
  type: "record",
  name: "Envelope",
  namespace: topic,
  "connect.name": `${topic}.Envelope`,
  fields: [
    field("before", ["null", row], { default: null }),
    field("after", ["null", "Value"], { default: null }),
    field("source", {
      type: "record",
      name: "Source",
      namespace: "io.debezium.connector.postgresql",
      fields: [field("connector", "string"), field("db", "string"), field("schema", "string"), field("table", "string")],
    }),
    field("op", "string"),
  ],
});

const firstVersion = envelopeSchema(rowSchema(field("id", "int"), field("name", "string")));
const secondVersion = envelopeSchema(rowSchema(field("id", "long"), field("email", ["null", "string"], { default: null })));
const wanted = envelopeSchema(
  rowSchema(
    field("email", ["null", "string"], { default: null }),
    field("title", "string", { aliases: ["name"], default: "none" }),
    field("id", "long"),
  ),
);

const source = { connector: "postgresql", db: "inv", schema: "public", table: "orders" };

function framed(id: number, schema: object, value: object): KafkaRecord {
  const payload = avsc.Type.forSchema(schema as avsc.Schema, { wrapUnions: "never" } as never).toBuffer(value);
  const prefix = Buffer.from([0, 0, 0, 0, id]);
  return recordOf(Buffer.concat([prefix, payload]), { topic, offset: 1n, timestamp: 1n });
}

function decodeAs(readerSchema: string, ...records: readonly KafkaRecord[]): unknown[] {
  const schemas = new Map([firstVersion, secondVersion].map((schema, i) => [i + 1, registered(i + 1, schema)]));
  const decoder = createDecoder({
    schemas: { peek: (id) => schemas.get(Number(id)), load: () => Promise.reject(new Error("all schemas are at hand")) },
    topics: { [topic]: { value: { readerSchema } } },
  });
  return records.flatMap((record) => (decoder.decode(record) as readonly CdcEvent[]).map((event) => rowOf(event)));
}

function registered(id: number, schema: object): RegisteredSchema {
  return { id, schemaType: "AVRO", schema: JSON.stringify(schema) };
}

function rowOf(event: CdcEvent): unknown {
  expect(event).toMatchObject({ kind: "change", op: "create", table: { schema: "public", name: "orders" } });
  return event.kind === "change" ? event.after : null;
}

describe("a reader's schema that is stated for a topic", () => {
  const first = framed(1, firstVersion, { before: null, after: { id: 7, name: "Ada" }, source, op: "c" });
  const second = framed(2, secondVersion, { before: null, after: { id: 8, email: "b@example.org" }, source, op: "c" });

  test("is what rows of all schema versions come in", () => {
    const rows = decodeAs(JSON.stringify(wanted), first, second, first);
    const old = { email: null, title: "Ada", id: 7 };
    expect(rows).toEqual([old, { email: "b@example.org", title: "none", id: 8 }, old]);
    expect(Object.keys(rows[0] as object)).toEqual(["email", "title", "id"]);
  });

  test("that the writer's does not fit is an error that says so", () => {
    const misfit = JSON.stringify(envelopeSchema(rowSchema(field("id", "string"))));
    expect(() => decodeAs(misfit, first)).toThrow(/^\[schema-mismatch\].*the reader's Avro schema/);
  });

  test("that is none is an error that names the option", () => {
    expect(() => decodeAs('{"type":"recrod"}', first)).toThrow(/^\[schema-invalid\].*topics\["inv.public.orders"\].value.readerSchema/);
  });

  test("may be a part of what was written: the rest is skipped", () => {
    const part = JSON.stringify({ type: "record", name: "Envelope", fields: [field("op", "string")] });
    const decoder = createDecoder({
      schemas: { peek: () => registered(1, firstVersion), load: () => Promise.reject(new Error("it is at hand")) },
      topics: { [topic]: { value: { readerSchema: part } } },
    });
    expect(decoder.decode(first)).toMatchObject([{ kind: "row", row: { op: "c" } }]);
  });
});
