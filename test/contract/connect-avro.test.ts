/** What Confluent's AvroData and Debezium do to Avro schemas, one convention a test; avsc writes the bytes and knows none of them. */
import { type CdcEvent, createDecoder, type DecoderOptions, type KafkaRecord, type RegisteredSchema } from "@cdckit/decode";
import { recordOf } from "@cdckit/testkit";
import avsc from "avsc";
import { describe, expect, test } from "vitest";

const topic = "p.inv.orders";
const field = (name: string, type: unknown, more: object = {}): object => ({ name, type, ...more });
const rowSchema = (...fields: object[]): object => ({
  type: "record",
  name: "Value",
  namespace: topic,
  "connect.version": 1,
  "connect.name": `${topic}.Value`,
  fields,
});

function bytesOf(schema: object, value: unknown): Buffer {
  const plain = JSON.parse(JSON.stringify(schema), (key, part: unknown) => (key === "logicalType" ? undefined : part)) as avsc.Schema;
  return avsc.Type.forSchema(plain, { wrapUnions: "never" } as never).toBuffer(value);
}

function decode(schema: object, value: unknown, options: DecoderOptions = {}): CdcEvent {
  const registered: RegisteredSchema = { id: 1, schemaType: "AVRO", schema: JSON.stringify(schema) };
  const bytes = Buffer.concat([Buffer.from([0, 0, 0, 0, 1]), bytesOf(schema, value)]);
  const record: KafkaRecord = recordOf(bytes, { topic, offset: 1n, timestamp: 1n });
  const schemas = { peek: () => registered, load: () => Promise.reject(new Error("it is at hand")) };
  const [event, ...more] = createDecoder({ schemas, ...options }).decode(record) as readonly CdcEvent[];
  expect(more).toEqual([]);
  return event ?? expect.fail("there is an event");
}

function rowOf(fields: object[], value: object, options: DecoderOptions = {}): unknown {
  const event = decode(rowSchema(...fields), value, options);
  return event.kind === "row" ? event.row : event;
}

const decimal = (scale: number, more: object = {}): object => ({
  type: "bytes",
  scale,
  precision: 64,
  "connect.version": 1,
  "connect.parameters": { scale: String(scale) },
  "connect.name": "org.apache.kafka.connect.data.Decimal",
  logicalType: "decimal",
  ...more,
});
const meant = (type: string, name: string, more: object = {}): object => ({ type, "connect.version": 1, "connect.name": name, ...more });

describe("properties of Connect's schemas", () => {
  test("versions, docs, defaults and types of integers change no value", () => {
    const columns = [
      field("tiny", { type: "int", "connect.type": "int8", "connect.doc": "d", "connect.version": 3, "connect.default": 7 }),
      field("small", { type: "int", "connect.type": "int16", "connect.default": 7 }, { default: 7 }),
    ];
    expect(rowOf(columns, { tiny: -128, small: 32_767 })).toEqual({ tiny: -128, small: 32_767 });
  });

  test("connect.name and connect.parameters are what a column means", () => {
    const columns = [
      field(
        "at",
        meant("long", "io.debezium.time.MicroTimestamp", { "connect.parameters": { "__debezium.source.column.type": "TIMESTAMP" } }),
      ),
      field("tags", meant("string", "io.debezium.data.EnumSet", { "connect.parameters": { allowed: "a,b,c" } })),
    ];
    expect(rowOf(columns, { at: 1_529_507_596_945_104, tags: "a,c" })).toEqual({ at: "2018-06-20T15:13:16.945104", tags: ["a", "c"] });
  });

  test("connect.fixed.size is a fixed, also of a decimal", () => {
    const fixed = (name: string, size: number, more: object = {}): object => ({
      type: "fixed",
      name,
      size,
      "connect.parameters": { "connect.fixed.size": String(size) },
      ...more,
    });
    const price = fixed("Price", 3, {
      "connect.name": "org.apache.kafka.connect.data.Decimal",
      "connect.parameters": { scale: "2", "connect.fixed.size": "3" },
    });
    const row = rowOf([field("hash", fixed("Hash", 2)), field("price", price)], {
      hash: Buffer.from([1, 2]),
      price: Buffer.from([0xff, 0xcf, 0xc7]),
    });
    expect(row).toEqual({ hash: Buffer.from([1, 2]), price: "-123.45" });
  });

  test("Connect's enumerations are Avro's, their symbols in parameters besides", () => {
    const color = {
      type: "enum",
      name: "Color",
      symbols: ["RED", "BLUE"],
      "connect.parameters": { "io.confluent.connect.avro.Enum": "shop.Color", "io.confluent.connect.avro.Enum.1": "RED" },
      "connect.name": "shop.Color",
    };
    expect(rowOf([field("c", color)], { c: "BLUE" })).toEqual({ c: "BLUE" });
  });
});

describe("optional columns", () => {
  test("are unions with null first, or last if they have a default", () => {
    const columns = [
      field("a", ["null", "int"], { default: null }),
      field("b", ["int", "null"], { default: 5 }),
      field("c", ["null", decimal(2)], { default: null }),
      field("d", [decimal(2), "null"], { default: "\u0001" }),
    ];
    const cents = Buffer.from([0x30, 0x39]);
    expect(rowOf(columns, { a: 1, b: 2, c: cents, d: cents })).toEqual({ a: 1, b: 2, c: "123.45", d: "123.45" });
    expect(rowOf(columns, { a: null, b: null, c: null, d: null })).toEqual({ a: null, b: null, c: null, d: null });
  });
});

describe("maps whose keys are no strings", () => {
  const entry = (key: unknown, more: object = {}): object => ({
    type: "record",
    name: "MapEntry",
    namespace: "io.confluent.connect.avro",
    fields: [field("key", key), field("value", ["null", "string"])],
    ...more,
  });
  const pairs = [
    { key: 2, value: "b" },
    { key: 1, value: null },
  ];
  const map = new Map([
    [2, "b"],
    [1, null],
  ]);

  test("are arrays of MapEntry, in their order; a second one names the type of the first", () => {
    const columns = [
      field("m", { type: "array", items: entry("int") }),
      field("n", ["null", { type: "array", items: "io.confluent.connect.avro.MapEntry" }]),
    ];
    expect(rowOf(columns, { m: pairs, n: pairs })).toEqual({ m: map, n: map });
  });

  test("are marked by connect.internal.type if the map has a name of its own", () => {
    const named = entry("int", { name: "Own", namespace: "shop", "connect.internal.type": "MapEntry" });
    expect(rowOf([field("m", { type: "array", items: named })], { m: pairs })).toEqual({ m: map });
  });

  test("may have keys that are null, and keys with a meaning", () => {
    const optional = { type: "array", items: entry(["null", "int"]) };
    expect(rowOf([field("m", optional)], { m: [{ key: null, value: "n" }] })).toEqual({ m: new Map([[null, "n"]]) });
    const dates = { type: "array", items: entry(meant("int", "io.debezium.time.Date")) };
    expect(rowOf([field("m", dates)], { m: [{ key: 1, value: "n" }] })).toEqual({ m: new Map([["1970-01-02", "n"]]) });
  });
});

describe("decimals", () => {
  const unscaled = Buffer.from([0x30, 0x39]);

  test.each<[string, object, string]>([
    ["of precision 64, where it is unknown", decimal(2), "123.45"],
    [
      "of a known precision",
      decimal(2, { precision: 10, "connect.parameters": { scale: "2", "connect.decimal.precision": "10" } }),
      "123.45",
    ],
    ["of a scale below zero, which Avro refuses", decimal(-2), "1234500"],
    ["of a scale above the precision, which Avro refuses", decimal(6, { precision: 4 }), "0.012345"],
    ["whose properties say another scale than the parameters, which are right", decimal(2, { scale: 0 }), "123.45"],
    ["without parameters", { type: "bytes", scale: 3, "connect.name": "org.apache.kafka.connect.data.Decimal" }, "12.345"],
    ["of Avro alone", { type: "bytes", logicalType: "decimal", precision: 9, scale: 1 }, "1234.5"],
  ])("%s", (_name, type, text) => {
    expect(rowOf([field("d", type)], { d: unscaled })).toEqual({ d: text });
  });
});

describe("Connect's dates and times", () => {
  test("have a logicalType beside their name, and come as their name says", () => {
    const columns = [
      field("day", meant("int", "org.apache.kafka.connect.data.Date", { logicalType: "date" })),
      field("time", meant("int", "org.apache.kafka.connect.data.Time", { logicalType: "time-millis" })),
      field("ts", ["null", meant("long", "org.apache.kafka.connect.data.Timestamp", { logicalType: "timestamp-millis" })]),
    ];
    expect(rowOf(columns, { day: 1, time: 1_001, ts: 86_400_001 })).toEqual({
      day: "1970-01-02",
      time: "00:00:01.001",
      ts: "1970-01-02T00:00:00.001",
    });
  });

  test("of Debezium have a name alone, which is enough", () => {
    const columns = [field("d", meant("int", "io.debezium.time.Date")), field("z", meant("string", "io.debezium.time.ZonedTimestamp"))];
    expect(rowOf(columns, { d: 1, z: "2024-02-29T12:00:00Z" })).toEqual({ d: "1970-01-02", z: "2024-02-29T12:00:00Z" });
  });
});

const source = {
  type: "record",
  name: "Source",
  namespace: "io.debezium.connector.postgresql",
  fields: [field("connector", "string"), field("schema", "string"), field("table", "string")],
};
const block = {
  type: "record",
  name: "block",
  namespace: "event",
  "connect.name": "event.block",
  fields: [field("id", "string"), field("total_order", "long"), field("data_collection_order", "long")],
};

function envelope(...columns: object[]): object {
  return {
    type: "record",
    name: "Envelope",
    namespace: topic,
    "connect.version": 2,
    "connect.name": `${topic}.Envelope`,
    fields: [
      field("before", ["null", rowSchema(...columns)], { default: null }),
      field("after", ["null", "Value"], { default: null }),
      field("source", source),
      field("transaction", ["null", block], { default: null }),
      field("op", "string"),
      field("ts_ms", ["null", "long"], { default: null }),
    ],
  };
}

describe("Debezium's records", () => {
  const variable = {
    type: "record",
    name: "VariableScaleDecimal",
    namespace: "io.debezium.data",
    "connect.name": "io.debezium.data.VariableScaleDecimal",
    fields: [field("scale", "int"), field("value", "bytes")],
  };
  const point = {
    type: "record",
    name: "Point",
    namespace: "io.debezium.data.geometry",
    "connect.name": "io.debezium.data.geometry.Point",
    fields: [field("x", "double"), field("y", "double"), field("wkb", ["null", "bytes"]), field("srid", ["null", "int"])],
  };

  test("the row of after is the one of before, by its name; so are structs that columns share", () => {
    const schema = envelope(
      field("n", variable),
      field("m", ["null", "io.debezium.data.VariableScaleDecimal"]),
      field("p", point),
      field("q", ["null", "io.debezium.data.geometry.Point"]),
    );
    const number = { scale: 2, value: Buffer.from([0x30, 0x39]) };
    const place = { x: 1, y: 2, wkb: null, srid: null };
    const row = { n: number, m: number, p: place, q: place };
    const event = decode(schema, {
      before: { ...row, m: null, q: null },
      after: row,
      source: { connector: "postgresql", schema: "inv", table: "orders" },
      transaction: { id: "571", total_order: 1, data_collection_order: 2 },
      op: "u",
      ts_ms: 5,
    });
    expect(event).toMatchObject({
      kind: "change",
      op: "update",
      envelope: "debezium",
      before: { n: "123.45", m: null, q: null },
      after: { n: "123.45", m: "123.45" },
      transaction: { id: "571", totalOrder: 1n, dataCollectionOrder: 2n },
    });
    const { after } = event as { after: Record<string, unknown> };
    expect(after["q"]).toEqual(after["p"]);
    expect(after["p"]).toMatchObject({ x: 1, y: 2 });
  });

  test("a second column of a struct has its own parameters, of its field; or none, if only its type is named again", () => {
    const seen: unknown[] = [];
    const parametersOf = (name: string): object => ({ "connect.parameters": { "__debezium.source.column.name": name } });
    const schema = rowSchema(
      field("a", { ...variable, ...parametersOf("a") }),
      field("b", "io.debezium.data.VariableScaleDecimal", parametersOf("b")),
      field("c", ["null", "io.debezium.data.VariableScaleDecimal"]),
    );
    const number = { scale: 0, value: Buffer.from([1]) };
    decode(schema, { a: number, b: number, c: number }, { onSchema: ({ row }) => seen.push(row) });
    const [row] = seen as { fields: { name: string; type: { semantic?: object; branches?: { semantic?: object }[] } }[] }[];
    const meanings = row?.fields.map(({ type }) => type.semantic ?? type.branches?.[1]?.semantic);
    const name = "io.debezium.data.VariableScaleDecimal";
    expect(meanings).toEqual([
      { name, parameters: { "__debezium.source.column.name": "a" } },
      { name, parameters: { "__debezium.source.column.name": "b" } },
      { name, parameters: {} },
    ]);
  });
});

describe("names that Avro does not allow", () => {
  const columns = [field("order_u0020n_u00b0", "int"), field("net_u005fprice", ["null", "int"]), field("_u12", "int")];
  const row = { order_u0020n_u00b0: 1, net_u005fprice: 2, _u12: 3 };

  test("come as they were written", () => {
    expect(rowOf(columns, row)).toEqual(row);
  });

  test("come as they were before avro_unicode adjusted them, if the topic says so", () => {
    const options: DecoderOptions = { topics: { [topic]: { fieldNames: "unescaped" } } };
    expect(rowOf(columns, row, options)).toEqual({ "order n°": 1, net_price: 2, _u12: 3 });
    const change = decode(
      envelope(...columns),
      {
        before: null,
        after: row,
        source: { connector: "postgresql", schema: "inv", table: "orders" },
        transaction: null,
        op: "c",
        ts_ms: 1,
      },
      options,
    );
    expect(change).toMatchObject({ kind: "change", op: "create", after: { "order n°": 1, net_price: 2, _u12: 3 } });
  });

  test("that two fields would share are an error, not a lost column", () => {
    const twice = [field("a_u005fb", "int"), field("a_b", "int")];
    expect(() => rowOf(twice, { a_u005fb: 1, a_b: 2 }, { topics: { [topic]: { fieldNames: "unescaped" } } })).toThrow(
      /^\[schema-invalid\].*two fields named/,
    );
  });
});
