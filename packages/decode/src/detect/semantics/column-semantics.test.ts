import { expect, test } from "vitest";
import { createDecoder, type Decoder, type DecoderOptions } from "../../decoder.ts";
import { type Type, withoutNull } from "../../encoding/type.ts";
import type { CdcEvent, ChangeEvent, RowEvent } from "../../event.ts";
import { SchemaChangeLearner } from "../../stream/learned-columns.ts";
import type { SchemaSeen } from "../../schema-seen.ts";

const day = { field: "day", type: "int32", name: "io.debezium.time.Date" };
const typedKey = JSON.stringify({ schema: { type: "struct", fields: [day] }, payload: { day: 19_782 } });
const isoDay = "2024-02-29";

interface Sent {
  readonly topic?: string;
  readonly key?: string | null;
  readonly value: unknown;
}

function decode(decoder: Decoder, { topic = "s.public.orders", key = null, value }: Sent): CdcEvent {
  const record = {
    topic,
    partition: 0,
    offset: 0n,
    timestamp: 0n,
    key: key === null ? null : Buffer.from(key),
    value: value instanceof Buffer ? value : Buffer.from(JSON.stringify(value)),
    headers: [],
  };
  return (decoder.decode(record) as CdcEvent[])[0] as CdcEvent;
}

function rowOf(decoder: Decoder, sent: Sent): unknown {
  return (decode(decoder, sent) as RowEvent).row;
}

function afterOf(decoder: Decoder, sent: Sent): unknown {
  return (decode(decoder, sent) as ChangeEvent).after;
}

interface Change {
  readonly table: string;
  readonly column: string;
  readonly typeName: string;
  readonly scale?: number;
}

function schemaChange({ table, column, typeName, scale = 6 }: Change): Sent {
  const columns = [{ name: column, typeName, length: null, scale }];
  return {
    topic: "s",
    value: {
      source: { connector: "postgresql", name: "s", ts_ms: 1 },
      ts_ms: 1,
      databaseName: "db",
      schemaName: "public",
      ddl: "...",
      tableChanges: [{ type: "CREATE", id: `"public"."${table}"`, table: { columns } }],
    },
  };
}

function change(table: string, after: object): Sent {
  const source = { connector: "postgresql", name: "s", db: "db", schema: "public", table, ts_ms: 1 };
  return { topic: "s.all", value: { op: "c", before: null, after, source, ts_ms: 1 } };
}

function learning(options: DecoderOptions = {}): Decoder {
  return createDecoder({ ...options, learn: { schemaChanges: new SchemaChangeLearner({ modes: "default" }) } });
}

test("the key's schema gives the semantics of a column with the same name in a value without a schema", () => {
  const decoder = createDecoder();
  for (let times = 0; times < 4; times++) {
    expect(rowOf(decoder, { key: typedKey, value: { day: 19_782, other: 19_782 } })).toEqual({ day: isoDay, other: 19_782 });
    expect(afterOf(decoder, { ...change("orders", { day: 19_782 }), key: typedKey })).toEqual({ day: isoDay });
    expect(rowOf(decoder, { key: "1", value: { day: 19_782 } })).toEqual({ day: 19_782 }); // the next key has no schema
  }
});

test("keys teach nothing if learning from keys is turned off", () => {
  expect(rowOf(createDecoder({ learn: { keys: false } }), { key: typedKey, value: { day: 19_782 } })).toEqual({ day: 19_782 });
});

test("the values of another system keep the semantics of that system", () => {
  const maxwell = { database: "db", table: "t", type: "insert", ts: 1, xid: 1, commit: true, data: { day: 19_782 } };
  expect(afterOf(createDecoder(), { key: typedKey, value: maxwell })).toEqual({ day: 19_782 });
});

test("a hint for a column overrides the key's schema", () => {
  const topics = { "s.public.orders": { columns: { day: "io.debezium.time.Timestamp" } } };
  expect(rowOf(createDecoder({ topics }), { key: typedKey, value: { day: 19_782 } })).toEqual({ day: "1970-01-01T00:00:19.782" });
});

test("a schema change gives the semantics of its table's columns to later rows and changes", () => {
  const decoder = learning();
  const row = { value: { day: 19_782 } };
  const before = rowOf(decoder, row);
  decode(decoder, schemaChange({ table: "orders", column: "day", typeName: "date" }));
  expect([before, rowOf(decoder, row)]).toEqual([{ day: 19_782 }, { day: isoDay }]);
  expect(afterOf(decoder, change("orders", { day: 19_782 }))).toEqual({ day: isoDay });
});

test("a learner that another decoder has taught is asked as well", () => {
  const schemaChanges = new SchemaChangeLearner({ modes: "default" });
  decode(createDecoder({ learn: { schemaChanges } }), schemaChange({ table: "orders", column: "day", typeName: "date" }));
  expect(rowOf(createDecoder({ learn: { schemaChanges } }), { value: { day: 19_782 } })).toEqual({ day: isoDay });
  expect(rowOf(createDecoder(), { value: { day: 19_782 } })).toEqual({ day: 19_782 });
});

test("changes of several tables on one topic are each read with what was learned of theirs", () => {
  const decoder = learning();
  decode(decoder, schemaChange({ table: "orders", column: "at", typeName: "date" }));
  decode(decoder, schemaChange({ table: "visits", column: "at", typeName: "timestamp" }));
  for (let times = 0; times < 4; times++) {
    expect(afterOf(decoder, change("orders", { at: 19_782 }))).toEqual({ at: isoDay });
    expect(afterOf(decoder, change("visits", { at: 1_000_000 }))).toEqual({ at: "1970-01-01T00:00:01" });
    expect(afterOf(decoder, change("notes", { at: 5 }))).toEqual({ at: 5 });
  }
});

test("a key's schema overrides a schema change", () => {
  const decoder = learning();
  decode(decoder, schemaChange({ table: "orders", column: "day", typeName: "timestamp" }));
  expect(rowOf(decoder, { key: typedKey, value: { day: 19_782 } })).toEqual({ day: isoDay });
  expect(rowOf(decoder, { value: { day: 1_000_000 } })).toEqual({ day: "1970-01-01T00:00:01" });
});

test("a value that contradicts what was learned is read as if nothing had been", () => {
  const decoder = learning({ values: { bits: "string" } });
  decode(decoder, schemaChange({ table: "orders", column: "price", typeName: "numeric", scale: 2 }));
  for (let times = 0; times < 3; times++) {
    expect(rowOf(decoder, { value: { price: "MDk=" } })).toEqual({ price: "123.45" });
    expect(rowOf(decoder, { value: { price: "twelve" } })).toEqual({ price: "twelve" });
  }
});

test("a value with a schema keeps the semantics of its schema, and the schema is reported once", () => {
  const seen: SchemaSeen[] = [];
  const decoder = createDecoder({
    learn: { schemaChanges: new SchemaChangeLearner({ modes: "default" }) },
    onSchema: (one) => seen.push(one),
  });
  decode(decoder, schemaChange({ table: "orders", column: "day", typeName: "date" }));
  const typed = { schema: { type: "struct", fields: [{ field: "day", type: "int32" }] }, payload: { day: 19_782 } };
  for (let times = 0; times < 3; times++) {
    expect(rowOf(decoder, { value: { day: 19_782 } })).toEqual({ day: isoDay });
    expect(rowOf(decoder, { value: typed })).toEqual({ day: 19_782 });
  }
  expect(seen).toHaveLength(1);
});

test("columns of Protobuf are learned too, because their schemas leave out the semantics", () => {
  const schema = 'syntax = "proto3"; message Row { int32 day = 1; }';
  const seen: SchemaSeen[] = [];
  const decoder = createDecoder({
    schemas: { peek: (id) => ({ id, schemaType: "PROTOBUF", schema }), load: () => expect.unreachable() },
    onSchema: (one) => seen.push(one),
  });
  const value = Buffer.from([0, 0, 0, 0, 1, 0, 0x08, 0xc6, 0x9a, 0x01]);
  for (let times = 0; times < 3; times++) {
    expect(rowOf(decoder, { key: typedKey, value })).toEqual({ day: isoDay });
    expect(rowOf(decoder, { value })).toEqual({ day: 19_782 });
  }
  expect(seen.filter(({ side }) => side === "value")).toHaveLength(1);
});

test("the schema of Protobuf is reported with the types that hints give to its columns, because their values have them", () => {
  const schema = 'syntax = "proto3"; message Row { optional bytes price = 1; int32 day = 2; bytes photo = 3; }';
  const seen: SchemaSeen[] = [];
  const price = { name: "org.apache.kafka.connect.data.Decimal", parameters: { scale: "2" } };
  const decoder = createDecoder({
    schemas: { peek: (id) => ({ id, schemaType: "PROTOBUF", schema }), load: () => expect.unreachable() },
    topics: { "s.public.orders": { columns: { price, day: "io.debezium.time.Date" } } },
    onSchema: (one) => seen.push(one),
  });
  const value = Buffer.from([0, 0, 0, 0, 1, 0, 0x0a, 0x01, 0x7b, 0x10, 0xc6, 0x9a, 0x01, 0x1a, 0x01, 0xff]);
  expect(rowOf(decoder, { value })).toEqual({ price: "1.23", day: isoDay, photo: Buffer.from([0xff]) });
  const row = withoutNull(seen[0]?.row as Type);
  const types = row.kind === "record" ? row.fields.map(({ name, type }) => [name, withoutNull(type).semantic?.name]) : [];
  expect(types).toEqual([
    ["price", "org.apache.kafka.connect.data.Decimal"],
    ["day", "io.debezium.time.Date"],
    ["photo", undefined],
  ]);
});

function cloudEvent(after: object, source = "/debezium/postgresql/s"): Sent {
  const attributes = { specversion: "1.0", id: "name:s;lsn:1;txId:2", source, type: "io.debezium.connector.postgresql.DataChangeEvent" };
  const extensions = { iodebeziumop: "c", iodebeziumdb: "db", iodebeziumschema: "public", iodebeziumtable: "orders" };
  return { topic: "s.public.orders", value: { ...attributes, ...extensions, data: { before: null, after } } };
}

test("semantics from a key or a schema change hold for a row inside of Debezium's CloudEvents", () => {
  const decoder = learning();
  decode(decoder, schemaChange({ table: "orders", column: "at", typeName: "timestamp" }));
  for (let times = 0; times < 4; times++) {
    expect(afterOf(decoder, { ...cloudEvent({ day: 19_782, at: 1 }), key: typedKey })).toEqual({
      day: isoDay,
      at: "1970-01-01T00:00:00.000001",
    });
  }
});

test("semantics from a key or a schema change do not hold for a row that DeltaForge wrote", () => {
  const sent = cloudEvent({ day: 19_782 }, "deltaforge/s/db.orders");
  const value = { ...(sent.value as object), type: "s.created", data: { after: { day: 19_782 }, op: "c" } };
  const plain = Object.fromEntries(Object.entries(value).filter(([name]) => !name.startsWith("iodebezium")));
  expect(afterOf(createDecoder(), { ...sent, value: plain, key: typedKey })).toEqual({ day: 19_782 });
});

test("explain names the columns whose semantics were learned, and their sources", async () => {
  const decoder = learning();
  decode(decoder, schemaChange({ table: "orders", column: "at", typeName: "timestamp" }));
  const record = {
    topic: "s.public.orders",
    partition: 0,
    offset: 0n,
    timestamp: 0n,
    key: Buffer.from(typedKey),
    value: Buffer.from(JSON.stringify({ day: 19_782, at: 1, other: 1 })),
    headers: [],
  };
  const { candidates } = await decoder.explain(record);
  const [won] = candidates.filter(({ side, layer, won }) => side === "value" && layer === "encoding" && won);
  expect(won?.evidence).toContain("what day means was learned from the key's schema");
  expect(won?.evidence).toContain("what at means was learned from a schema change of the table");
  expect(won?.evidence).not.toContain("other");
});
