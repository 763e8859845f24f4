import { describe, expect, test } from "vitest";
import { UNAVAILABLE } from "../../values/unavailable.ts";
import type { Deferred, PayloadReader, ReadPlan } from "../reader.ts";
import { avroType, long, outcomeOf, readBoth, sized, text, twins } from "./twins.contract.ts";

const zero = Buffer.from([0]);
const bare = (entries: object): unknown => Object.assign(Object.create(null) as object, entries);
const record = (fields: Record<string, unknown>, name = "R"): unknown => ({
  type: "record",
  name,
  fields: Object.entries(fields).map(([field, type]) => ({ name: field, type })),
});
const meant = (type: unknown, name: string, parameters: object = {}): unknown => ({
  type,
  "connect.name": name,
  "connect.parameters": parameters,
});
const valueOf = (schema: unknown, payload: Buffer, options: Parameters<typeof twins>[1] = {}): unknown =>
  (readBoth(twins(avroType(schema), options), payload) as { value?: unknown }).value;

describe("the shapes of values", () => {
  test("a record {id: int} of 1 is the byte 02", () => {
    expect(valueOf(record({ id: "int" }), Buffer.from([0x02]))).toStrictEqual({ id: 1 });
  });

  test("a payload of bytes has no length", () => {
    expect(valueOf("bytes", Buffer.from([1, 2, 3]))).toStrictEqual(Buffer.from([1, 2, 3]));
    expect(valueOf("bytes", Buffer.alloc(0))).toStrictEqual(Buffer.alloc(0));
    expect(valueOf({ type: "bytes", logicalType: "decimal", precision: 5, scale: 2 }, Buffer.from([0x30, 0x39]))).toBe("123.45");
    expect(valueOf("string", text("ab"))).toBe("ab");
  });

  test("a Buffer is a copy, because the batch may be overwritten", () => {
    for (const length of [3, 300]) {
      const payload = sized(Buffer.alloc(length, 7));
      for (const reader of twins(avroType(record({ b: "bytes" })))) {
        const batch = Buffer.from(payload);
        const { b } = reader.read(batch, 0, batch.length) as { b: Buffer };
        batch.fill(0);
        expect(b).toStrictEqual(Buffer.alloc(length, 7));
      }
    }
  });

  test("a plain Uint8Array is read as well as a Buffer", () => {
    const payload = new Uint8Array(Buffer.concat([text("é".repeat(30)), text("abc"), sized(Buffer.from([1]))]));
    for (const reader of twins(avroType(record({ s: "string", t: "string", b: "bytes" })))) {
      expect(reader.read(payload, 0, payload.length)).toStrictEqual({ s: "é".repeat(30), t: "abc", b: Buffer.from([1]) });
    }
  });

  test("a union is unwrapped with null first or last, and with many branches", () => {
    expect(valueOf(["null", "int"], Buffer.from([0]))).toBe(null);
    expect(valueOf(["int", "null"], Buffer.from([0, 8]))).toBe(4);
    expect(valueOf(["null", "int", "string", record({ a: "boolean" })], Buffer.from([6, 1]))).toStrictEqual({ a: true });
  });

  test("a map with string keys is an object without prototype, with other keys a Map", () => {
    expect(valueOf({ type: "map", values: "int" }, Buffer.concat([long(1), text("a"), long(5), zero]))).toStrictEqual(bare({ a: 5 }));
    const entry = {
      type: "record",
      name: "MapEntry",
      namespace: "io.confluent.connect.avro",
      fields: [
        { name: "key", type: ["null", "int"] },
        { name: "value", type: "string" },
      ],
    };
    expect(
      valueOf({ type: "array", items: entry }, Buffer.concat([long(2), zero, text("a"), Buffer.from([2, 6]), text("b"), zero])),
    ).toStrictEqual(
      new Map<unknown, unknown>([
        [null, "a"],
        [3, "b"],
      ]),
    );
  });

  test("a float has the precision of 32 bits", () => {
    const float = Buffer.alloc(4);
    float.writeFloatLE(0.1);
    expect(valueOf("float", float)).toBe(Math.fround(0.1));
    float.writeFloatLE(Number.NaN);
    expect(valueOf("float", float)).toBeNaN();
  });

  test.each([
    ["safe", 7, 2n ** 60n],
    ["bigint", 7n, 2n ** 60n],
    ["string", "7", String(2n ** 60n)],
  ] as const)("int64: %s", (int64, small, large) => {
    const payload = Buffer.concat([long(7), long(2n ** 60n)]);
    expect(valueOf(record({ a: "long", b: "long" }), payload, { values: { int64 } })).toStrictEqual({ a: small, b: large });
  });
});

describe("meanings", () => {
  test("each column is converted by its own semantics", () => {
    const schema = record({
      amount: meant("bytes", "org.apache.kafka.connect.data.Decimal", { scale: "2" }),
      at: ["null", meant("long", "io.debezium.time.MicroTimestamp")],
      on: meant("int", "io.debezium.time.Date"),
      far: meant("long", "io.debezium.time.NanoTimestamp"),
      set: meant("string", "io.debezium.data.EnumSet"),
      bits: meant("bytes", "io.debezium.data.Bits", { length: "4" }),
      fixed: { type: "fixed", name: "D", size: 4, logicalType: "decimal", precision: 9, scale: 1 },
      doc: meant("string", "io.debezium.data.Json"),
      plain: meant("int", "shop.Unknown"),
    });
    const payload = Buffer.concat([
      sized(Buffer.from([0x30, 0x39])),
      Buffer.from([2]),
      long(1_529_507_596_945_104n),
      long(19_782),
      long(1_723_115_239_782_690_123n),
      text("a,b"),
      sized(Buffer.from([0x0a])),
      Buffer.from([0xff, 0xff, 0xff, 0xfe]),
      text('{"a":9007199254740993}'),
      long(3),
    ]);
    const expected = {
      amount: "123.45",
      at: "2018-06-20T15:13:16.945104",
      on: "2024-02-29",
      far: "2024-08-08T11:07:19.782690123",
      set: ["a", "b"],
      bits: "1010",
      fixed: "-0.2",
      doc: '{"a":9007199254740993}',
      plain: 3,
    };
    expect(valueOf(schema, payload)).toStrictEqual(expected);
    expect(valueOf(schema, payload, { values: { json: "parse" } })).toStrictEqual({ ...expected, doc: { a: 9007199254740993n } });
  });

  test("the conversion of a struct gets its fields raw, regardless of the options", () => {
    const schema = record({
      v: {
        type: "record",
        name: "VariableScaleDecimal",
        namespace: "io.debezium.data",
        fields: [
          { name: "scale", type: "int" },
          { name: "value", type: "bytes" },
        ],
        "connect.name": "io.debezium.data.VariableScaleDecimal",
      },
      w: ["null", "io.debezium.data.VariableScaleDecimal"],
    });
    const payload = Buffer.concat([long(3), sized(Buffer.from([0x30, 0x39])), Buffer.from([2]), long(0), sized(Buffer.from([0xff]))]);
    expect(valueOf(schema, payload, { values: { int64: "string" } })).toStrictEqual({ v: "12.345", w: "-1" });
  });

  test("an error of a conversion is a DecodeError, and the reader can be used again", () => {
    const schema = record({ amount: meant("bytes", "org.apache.kafka.connect.data.Decimal", { scale: "2" }) });
    const readers = twins(avroType(schema));
    expect(readBoth(readers, zero)).toEqual({ code: "value-invalid" });
    expect(readBoth(readers, sized(Buffer.from([100])))).toEqual({ value: { amount: "1.00" } });
  });

  test("a conversion may read another message with the same reader", () => {
    const schema = record({
      nulls: { type: "array", items: "null" },
      amount: { type: "array", items: meant("bytes", "org.apache.kafka.connect.data.Decimal", { scale: "0" }) },
      after: "string",
    });
    const payload = (amount: number): Buffer =>
      Buffer.concat([long(50_000), zero, long(2), sized(Buffer.from([amount])), sized(Buffer.from([amount])), zero, text("after")]);
    for (const index of [0, 1]) {
      let reader: PayloadReader | undefined;
      const valuesOf = (value: unknown): unknown[] => (value as { amount: unknown[] }).amount;
      const decimal = (unscaled: bigint): unknown => {
        const inner = payload(Number(unscaled) - 1);
        return unscaled === 0n ? "end" : valuesOf(reader?.read(inner, 0, inner.length))[1];
      };
      reader = twins(avroType(schema), { values: { decimal } })[index];
      const outer = payload(3);
      expect(reader?.read(outer, 0, outer.length)).toMatchObject({ amount: ["end", "end"], after: "after" });
    }
  });
});

describe("the plan", () => {
  const source = {
    type: "record",
    name: "Source",
    fields: [
      { name: "version", type: "string" },
      { name: "db", type: "string" },
      { name: "schema", type: ["null", "string"] },
      { name: "table", type: ["string", "null"] },
      { name: "lsn", type: ["null", "long"] },
    ],
  };
  const sourceBytes = (db: string, lsn: number): Buffer =>
    Buffer.concat([text("3.5"), text(db), Buffer.from([0, 0]), text("orders"), Buffer.from([2]), long(lsn)]);

  test("a deferred field is peeked into at once and read later, and the result of resolve is reused while the peeked texts stay the same", () => {
    for (const index of [0, 1]) {
      const calls: unknown[] = [];
      const resolve = (peeked: readonly unknown[]): unknown => {
        calls.push(peeked);
        return { db: peeked[0] };
      };
      const plan: ReadPlan = { defer: { field: "source", peek: ["db", "schema", "table", "lsn", "none"], resolve }, skip: [], rows: [] };
      const reader = twins(avroType(record({ source, op: "string" })), { plan })[index];
      const read = (db: string, lsn: number): Deferred => {
        const payload = Buffer.concat([sourceBytes(db, lsn), text("c")]);
        const value = reader?.read(payload, 0, payload.length) as { source: Deferred; op: string };
        expect(Object.keys(value)).toEqual(["source", "op"]);
        expect(value.op).toBe("c");
        return value.source;
      };
      const [first, second, third] = [read("shop", 1), read("shop", 2), read("été", 3)];
      expect(calls).toEqual([
        ["shop", null, "orders", undefined, undefined],
        ["été", null, "orders", undefined, undefined],
      ]);
      expect(second.peeked).toBe(first.peeked);
      expect(first.value).toStrictEqual({ version: "3.5", db: "shop", schema: null, table: "orders", lsn: 1 });
      expect([second.value, third.value]).toMatchObject([{ lsn: 2 }, { db: "été", lsn: 3 }]);
    }
  });

  test("an optional deferred field can be null, and one that is no record is deferred as a whole", () => {
    const resolve = (peeked: readonly unknown[]): unknown => peeked;
    const plan: ReadPlan = { defer: { field: "f", peek: ["db"], resolve }, skip: [], rows: [] };
    for (const reader of twins(avroType(record({ f: ["null", source] })), { plan })) {
      expect(reader.read(zero, 0, 1)).toStrictEqual({ f: null });
      const payload = Buffer.concat([Buffer.from([2]), sourceBytes("shop", 1)]);
      const { f } = reader.read(payload, 0, payload.length) as { f: Deferred };
      expect(f.peeked).toEqual(["shop"]);
      f.detach();
      payload.fill(0);
      expect(f.value).toMatchObject({ db: "shop" });
    }
    for (const reader of twins(avroType(record({ f: { type: "array", items: "int" } })), { plan })) {
      const payload = Buffer.concat([long(2), long(5), long(6), zero]);
      const { f } = reader.read(payload, 0, payload.length) as { f: Deferred };
      expect([f.peeked, f.value]).toEqual([[undefined], [5, 6]]);
    }
  });

  test("bad content of a deferred part fails on each read, and its length is checked at once", () => {
    const plan: ReadPlan = { defer: { field: "source", peek: ["db"], resolve: () => null }, skip: [], rows: [] };
    for (const reader of twins(avroType(record({ source })), { plan })) {
      const payload = sourceBytes("shop", 1);
      payload[1] = 0xff; // a byte of the version
      const part = (reader.read(payload, 0, payload.length) as { source: Deferred }).source;
      expect(outcomeOf(() => part.value)).toEqual({ code: "invalid-utf8" });
      expect(outcomeOf(() => part.value)).toEqual({ code: "invalid-utf8" });
      expect(outcomeOf(() => reader.read(payload, 0, payload.length - 1))).toEqual({ code: "truncated" });
    }
  });

  test("fields can be skipped also if the payload is the row", () => {
    const plan: ReadPlan = { defer: null, skip: ["__lsn"], rows: "self" };
    const payload = Buffer.concat([long(1), long(2), text("__debezium_unavailable_value")]);
    expect(valueOf(record({ id: "int", __lsn: "long", doc: "string" }), payload, { plan })).toStrictEqual({ id: 1, doc: UNAVAILABLE });
  });

  test("skipped fields are absent, and others of the same name further down are not", () => {
    const schema = record({ ts_us: "long", inner: record({ ts_us: "long" }, "I"), ts_ns: ["null", "long"] });
    const plan: ReadPlan = { defer: null, skip: ["ts_us", "ts_ns"], rows: [] };
    expect(valueOf(schema, Buffer.concat([long(1), long(2), Buffer.from([2]), long(3)]), { plan })).toStrictEqual({ inner: { ts_us: 2 } });
  });
});

describe("unchanged TOAST columns", () => {
  const placeholder = "__debezium_unavailable_value";
  const ph = Buffer.from(placeholder);
  const block = (...items: Buffer[]): Buffer => Buffer.concat([long(items.length), ...items, zero]);
  const ints = block(...[...ph].map((byte) => long(byte)));
  const arrayOf = (items: unknown): unknown => ({ type: "array", items });
  const columns: readonly (readonly [string, unknown, Buffer])[] = [
    ["text", "string", text(placeholder)],
    ["optional text", ["null", "string"], Buffer.concat([Buffer.from([2]), text(placeholder)])],
    ["Json", meant("string", "io.debezium.data.Json"), text(placeholder)],
    ["hstore as JSON", meant("string", "io.debezium.data.Json"), text(`{"${placeholder}":"${placeholder}"}`)],
    ["bytes", "bytes", sized(ph)],
    ["a decimal", meant("bytes", "org.apache.kafka.connect.data.Decimal", { scale: "2" }), sized(ph)],
    ["text[]", arrayOf(["null", "string"]), block(Buffer.concat([Buffer.from([2]), text(placeholder)]))],
    ["bytea[]", arrayOf("bytes"), block(sized(ph))],
    ["int4[]", arrayOf("int"), ints],
    ["int8[]", arrayOf("long"), ints],
    ["date[]", arrayOf(meant("int", "io.debezium.time.Date")), ints],
    ["uuid[]", arrayOf(meant("string", "io.debezium.data.Uuid")), block(text("b68a35a7-17ad-35b3-af2a-ae46edb4545a"))],
    [
      "hstore as a map",
      { type: "map", values: ["null", "string"] },
      block(Buffer.concat([text(placeholder), Buffer.from([2]), text(placeholder)])),
    ],
  ];

  test.each(columns)("%s of a row is UNAVAILABLE", (_name, type, payload) => {
    const row = record({ id: "int", c: type }, "Row");
    const rowBytes = Buffer.concat([long(1), payload]);
    expect(valueOf(row, rowBytes, { plan: { defer: null, skip: [], rows: "self" } })).toStrictEqual({ id: 1, c: UNAVAILABLE });
    const envelope = record({ before: ["null", row], after: ["null", "Row"], other: ["null", "Row"] }, "E");
    const envelopeBytes = Buffer.concat([zero, Buffer.from([2]), rowBytes, Buffer.from([2]), rowBytes]);
    const plan: ReadPlan = { defer: null, skip: [], rows: ["before", "after"] };
    const value = readBoth(twins(avroType(envelope), { plan }), envelopeBytes) as { value?: Record<string, Record<string, unknown>> };
    if (_name !== "a decimal") {
      expect(value.value?.["other"]?.["c"]).not.toBe(UNAVAILABLE);
    }
    expect(value.value?.["after"]).toStrictEqual({ id: 1, c: UNAVAILABLE });
  });

  test("values with the length or count of the placeholder stay themselves", () => {
    const row = record({
      s: "string",
      b: "bytes",
      a: arrayOf("string"),
      i: arrayOf(meant("int", "io.debezium.time.Date")),
      m: { type: "map", values: "string" },
    });
    const other = placeholder.replace("_v", "-v");
    const payload = Buffer.concat([
      text(other),
      sized(Buffer.from(other)),
      block(text(other)),
      block(...new Array<Buffer>(28).fill(long(95))),
      block(Buffer.concat([text(placeholder), text(other)])),
    ]);
    expect(valueOf(row, payload, { plan: { defer: null, skip: [], rows: "self" } })).toStrictEqual({
      s: other,
      b: Buffer.from(other),
      a: [other],
      i: new Array(28).fill("1970-04-06"),
      m: bare({ [placeholder]: other }),
    });
  });

  test("the placeholder is an option", () => {
    const plan: ReadPlan = { defer: null, skip: [], rows: "self" };
    const options = { plan, values: { unavailablePlaceholder: "ünchanged" } };
    expect(valueOf(record({ s: "string" }), text("ünchanged"), options)).toStrictEqual({ s: UNAVAILABLE });
    expect(valueOf(record({ s: "string" }), text(placeholder), options)).toStrictEqual({ s: placeholder });
  });
});
