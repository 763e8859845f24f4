import { describe, expect, test } from "vitest";
import { UNAVAILABLE } from "../../values/unavailable.ts";
import { Deferred, type ReadPlan } from "../reader.ts";
import { field, group, joined, parseProto, peerType, plain, proto3, readBoth, twins, valueOf, varint } from "./twins.contract.ts";

function hex(text: string): Buffer {
  return Buffer.from(text.replaceAll(" ", ""), "hex");
}

describe("scalars", () => {
  const minus1 = varint(-1);
  const cases: readonly (readonly [type: string, wire: string, bytes: Uint8Array, value: unknown])[] = [
    ["int32", "0", varint(300), 300],
    ["int32", "0", minus1, -1],
    ["int32", "0", varint(2n ** 40n + 5n), 5],
    ["uint32", "0", varint(2 ** 32 - 1), 2 ** 32 - 1],
    ["sint32", "0", varint(2 ** 32 - 1), -(2 ** 31)],
    ["int64", "0", varint(1), 1],
    ["int64", "0", varint(2n ** 53n - 1n), 2 ** 53 - 1],
    ["int64", "0", varint(2n ** 53n), 2n ** 53n],
    ["int64", "0", minus1, -1],
    ["int64", "0", varint(-(2n ** 53n) + 1n), -(2 ** 53) + 1],
    ["int64", "0", varint(-(2n ** 53n)), -(2n ** 53n)],
    ["int64", "0", varint(-(2n ** 63n)), -(2n ** 63n)],
    ["int64", "0", varint(2n ** 63n - 1n), 2n ** 63n - 1n],
    ["int64", "0", varint(1_723_115_239_782_690_123n), 1_723_115_239_782_690_123n],
    ["uint64", "0", minus1, 2n ** 64n - 1n],
    ["sint64", "0", varint(2n ** 54n - 1n), -(2n ** 53n)],
    ["sint64", "0", varint(2n ** 54n - 3n), -(2 ** 53) + 1],
    ["sint64", "0", minus1, -(2n ** 63n)],
    ["bool", "0", varint(1), true],
    ["bool", "0", varint(2n ** 60n), true],
    ["bool", "0", hex("80 00"), false],
    ["fixed32", "5", hex("ff ff ff ff"), 2 ** 32 - 1],
    ["sfixed32", "5", hex("ff ff ff ff"), -1],
    ["fixed64", "1", hex("ff ff ff ff ff ff ff ff"), 2n ** 64n - 1n],
    ["fixed64", "1", hex("ff ff ff ff ff ff 1f 00"), 2 ** 53 - 1],
    ["sfixed64", "1", hex("fe ff ff ff ff ff ff ff"), -2],
    ["sfixed64", "1", hex("00 00 00 00 00 00 00 80"), -(2n ** 63n)],
    ["float", "5", hex("cd cc 8c 3f"), Math.fround(1.1)],
    ["double", "1", hex("00 00 00 00 00 00 f8 7f"), Number.NaN],
    ["string", "2", joined(varint(6), Buffer.from("h\u00e9llo")), "h\u00e9llo"],
    ["bytes", "2", hex("02 ff 00"), Buffer.from([255, 0])],
  ];
  for (const [type, wire, bytes, value] of cases) {
    test(`${type} of ${Buffer.from(bytes).toString("hex")}`, () => {
      const tag = Buffer.from([8 + Number(wire)]);
      expect(valueOf(twins(proto3(`${type} a = 1;`)), joined(tag, bytes))).toStrictEqual({ a: value });
      expect(valueOf(twins(proto3(`optional ${type} a = 1;`)), joined(tag, bytes))).toStrictEqual({ a: value });
      expect(valueOf(twins(proto3(`repeated ${type} a = 1;`)), joined(tag, bytes, tag, bytes))).toStrictEqual({ a: [value, value] });
    });
  }

  test("int64 values have the form that the option names, in lists too", () => {
    const bytes = joined(field(1, 5), field(2, joined(varint(7), varint(2n ** 60n))));
    const schema = proto3("int64 a = 1; repeated int64 b = 2; uint64 c = 3; int32 d = 4;");
    expect(valueOf(twins(schema, { values: { int64: "bigint" } }), bytes)).toStrictEqual({ a: 5n, b: [7n, 2n ** 60n], c: 0n, d: 0 });
    expect(valueOf(twins(schema, { values: { int64: "string" } }), bytes)).toStrictEqual({
      a: "5",
      b: ["7", String(2n ** 60n)],
      c: "0",
      d: 0,
    });
  });

  test("enums are names, and unknown numbers stay numbers", () => {
    const schema = proto3("E a = 1; repeated E b = 2; E c = 3;", "enum E { option allow_alias = true; ZERO = 0; NULL = 0; LESS = -1; }");
    const bytes = joined(field(1, -1), field(2, joined(varint(0), varint(9), varint(-1))));
    expect(valueOf(twins(schema), bytes)).toStrictEqual({ a: "LESS", b: ["ZERO", 9, "LESS"], c: "ZERO" });
  });
});

describe("absent fields", () => {
  test("an absent field is its type's zero without presence, and null with presence", () => {
    const schema = proto3(
      "int32 a = 1; optional int32 b = 2; string c = 3; optional string d = 4; bool e = 5; bytes f = 6; M g = 7; repeated M h = 8; map<string, int32> i = 9; map<int32, int32> j = 10; oneof k { int32 l = 11; } double m = 12;",
    );
    expect(valueOf(twins(schema), Buffer.alloc(0))).toStrictEqual({
      a: 0,
      b: null,
      c: "",
      d: null,
      e: false,
      f: Buffer.alloc(0),
      g: null,
      h: [],
      i: Object.create(null),
      j: new Map(),
      l: null,
      m: 0,
    });
  });

  test("an absent value that users could change is another one in each message", () => {
    const columns = new Map([
      ["a", { name: "io.debezium.data.EnumSet", parameters: {} }],
      ["b", { name: "io.debezium.time.Timestamp", parameters: {} }],
    ]);
    const plan: ReadPlan = { rows: "self", skip: [], defer: null };
    const schema = `message M { optional string a = 1 [default = "x,y"]; optional int64 b = 2 [default = 5]; optional bytes c = 3 [default = "ab"]; }`;
    for (const reader of twins(schema, { plan, columns, values: { time: "date" } })) {
      const [first, second] = [0, 0].map(() => reader.read(Buffer.alloc(0), 0, 0)) as Record<string, unknown>[];
      expect(first).toStrictEqual({ a: ["x", "y"], b: new Date(5), c: Buffer.from("ab") });
      expect(second).toStrictEqual(first);
      expect(Object.keys(first ?? {}).filter((name) => first?.[name] === second?.[name])).toEqual([]);
    }
  });

  test("proto2's defaults are exact, and its other optional fields are null", () => {
    const schema = `message M {
      optional int64 a = 1 [default = -9223372036854775808]; optional uint64 b = 2 [default = 0x10]; optional string c = 3 [default = "\\303\\251\\x41\\n"];
      optional bytes d = 4 [default = "\\001\\377"]; optional float e = 5 [default = -inf]; optional bool f = 6 [default = true];
      optional E g = 7 [default = B]; optional E h = 8; optional double i = 9 [default = 1.5e3];
      optional uint64 j = 10 [default = 01777777777777777777777]; optional double k = 11 [default = -010]; optional float l = 12 [default = 0x10]; enum E { A = 1; B = 2; } }`;
    expect(valueOf(twins(schema), Buffer.alloc(0))).toStrictEqual({
      a: -(2n ** 63n),
      b: 16,
      c: "\u00e9A\n",
      d: Buffer.from([1, 255]),
      e: Number.NEGATIVE_INFINITY,
      f: true,
      g: "B",
      h: null,
      i: 1500,
      j: 2n ** 64n - 1n,
      k: -8, // protoc takes an integer there, octal too
      l: 16,
    });
  });

  test("a required field must be there", () => {
    const readers = twins("message M { required int32 a = 1; required string b = 2; }");
    expect(readBoth(readers, field(1, 5))).toStrictEqual({ code: "malformed" });
    expect(valueOf(readers, joined(field(2, "x"), field(1, 5)))).toStrictEqual({ a: 5, b: "x" });
  });

  test("editions choose presence per file, message and field", () => {
    const schema = `edition = "2023"; option features.field_presence = IMPLICIT;
      message M { int32 a = 1; int32 b = 2 [features.field_presence = EXPLICIT]; N c = 3; int32 d = 4 [features = { field_presence: LEGACY_REQUIRED }]; }
      message N { int32 a = 1; }`;
    expect(valueOf(twins(schema), field(4, 1))).toStrictEqual({ a: 0, b: null, c: null, d: 1 });
    expect(readBoth(twins(schema), Buffer.alloc(0))).toStrictEqual({ code: "malformed" });
  });

  test("an extension that is absent is null, also in an edition's file without presence", () => {
    const schema = `edition = "2023"; option features.field_presence = IMPLICIT; message M { int32 a = 1; extensions 100 to 199; }
      extend M { int32 number = 100; string text = 101; repeated int32 list = 102; }`;
    expect(valueOf(twins(schema), field(1, 1))).toStrictEqual({ a: 1, "[number]": null, "[text]": null, "[list]": [] });
    expect(valueOf(twins(schema), field(100, 0))).toStrictEqual({ a: 0, "[number]": 0, "[text]": null, "[list]": [] });
  });
});

describe("fields in any order, any number of times", () => {
  const schema = proto3(
    "int32 a = 1; string b = 2; repeated int32 c = 3; N n = 4; map<string, N> m = 5;",
    "message N { int32 x = 1; repeated int32 y = 2; N n = 3; }",
  );

  test("the result has the order of the declaration in any order of the bytes", () => {
    const readers = twins(proto3("string z = 9; int32 a = 3; string k = 1;"));
    const backwards = joined(field(9, "z"), field(3, 1), field(1, "k"));
    expect(JSON.stringify(valueOf(readers, backwards))).toBe('{"z":"z","a":1,"k":"k"}');
  });

  test("the last value of a scalar wins", () => {
    expect(valueOf(twins(schema), joined(field(1, 1), field(2, "a"), field(1, 2), field(2, "b")))).toMatchObject({ a: 2, b: "b" });
  });

  test("a list collects packed and unpacked values", () => {
    const bytes = joined(field(3, 1), field(3, joined(varint(2), varint(3))), field(1, 7), field(3, 4), field(3, Buffer.alloc(0)));
    expect(valueOf(twins(schema), bytes)).toMatchObject({ a: 7, c: [1, 2, 3, 4] });
  });

  test("a message that comes in parts is merged on every level", () => {
    const first = field(4, joined(field(1, 1), field(2, 1), field(3, field(1, 5))));
    const second = field(4, joined(field(2, 2), field(3, field(2, 6))));
    const merged = { x: 1, y: [1, 2], n: { x: 5, y: [6], n: null } };
    expect(valueOf(twins(schema), joined(first, second))).toMatchObject({ n: merged });
    expect(valueOf(twins(schema), joined(first, field(1, 3), second, field(2, "z")))).toMatchObject({ a: 3, b: "z", n: merged });
    expect(valueOf(twins(schema), joined(field(5, joined(field(1, "k"), field(2, field(1, 1)), field(2, field(2, 2))))))).toMatchObject({
      m: { k: { x: 1, y: [2] } },
    });
  });

  test("a oneof keeps only its last field", () => {
    const oneof = twins(proto3("oneof o { int32 a = 1; N b = 2; string c = 3; }", "message N { int32 x = 1; int32 y = 2; }"));
    const x = field(2, field(1, 1));
    const y = field(2, field(2, 2));
    expect(valueOf(oneof, joined(field(1, 5), field(3, "c")))).toStrictEqual({ a: null, b: null, c: "c" });
    expect(valueOf(oneof, joined(field(3, "c"), field(1, 5)))).toStrictEqual({ a: 5, b: null, c: null });
    expect(valueOf(oneof, joined(x, y))).toStrictEqual({ a: null, b: { x: 1, y: 2 }, c: null });
    expect(valueOf(oneof, joined(x, field(1, 5), y))).toStrictEqual({ a: null, b: { x: 0, y: 2 }, c: null });
    expect(valueOf(oneof, joined(x, x, field(1, 5), y, x))).toStrictEqual({ a: null, b: { x: 1, y: 2 }, c: null });
    expect(valueOf(oneof, joined(x, y, field(1, 5)))).toStrictEqual({ a: 5, b: null, c: null });
  });

  test("a field of a oneof that is not set is null, also if it declares a default", () => {
    const schema = `message M { oneof o { int32 a = 1 [default = 5]; E b = 2 [default = Y]; } optional int32 c = 3 [default = 6]; enum E { X = 0; Y = 1; } }`;
    const ours = twins(schema);
    const peer = peerType(`syntax = "proto2"; ${schema}`, "M");
    for (const bytes of [
      Buffer.alloc(0),
      field(3, 7),
      field(1, 0),
      field(2, 0),
      joined(field(1, 8), field(2, 1)),
      joined(field(2, 1), field(1, 8)),
    ]) {
      const value = valueOf(ours, bytes);
      expect(value).toHaveProperty("b");
      expect(plain(value)).toStrictEqual(peer.toObject(peer.decode(bytes), { enums: String, defaults: true }));
    }
  });

  test("fields with an unknown number or an unexpected wire type are skipped", () => {
    const unknown = joined(
      field(90, 1),
      field(91, "text"),
      hex("e5 05 01 02 03 04"),
      hex("e1 05 01 02 03 04 05 06 07 08"),
      group(93, group(94, field(1, 1))),
    );
    const otherWire = joined(field(1, "not an int32"), field(2, 5), field(4, 5));
    expect(valueOf(twins(schema), joined(unknown, otherWire, field(1, 6), unknown))).toMatchObject({ a: 6, b: "", n: null });
  });

  test("tags may be longer than necessary", () => {
    expect(valueOf(twins(schema), hex("88 00 05 88 80 80 80 00 06"))).toMatchObject({ a: 6 });
  });

  test("fields with large numbers are read", () => {
    const far = twins(proto3("int32 a = 536870911; int32 b = 2047; int32 c = 2048; repeated int32 d = 16;"));
    expect(valueOf(far, joined(field(16, 1), field(16, 2), field(2047, 3), field(2048, 4), field(536_870_911, 5)))).toStrictEqual({
      a: 5,
      b: 3,
      c: 4,
      d: [1, 2],
    });
  });
});

test("groups are read as messages, also if an edition declares them", () => {
  const proto2 = "message M { optional group Inner = 1 { optional int32 a = 1; } repeated group Many = 2 { optional int32 b = 1; } }";
  const bytes = joined(group(1, field(1, 5)), group(2, field(1, 6)), group(2));
  expect(valueOf(twins(proto2), bytes)).toStrictEqual({ inner: { a: 5 }, many: [{ b: 6 }, { b: null }] });
  const editions = `edition = "2023"; message M { N n = 1 [features.message_encoding = DELIMITED]; } message N { int32 a = 1; }`;
  expect(valueOf(twins(editions), group(1, field(1, 5)))).toStrictEqual({ n: { a: 5 } });
  expect(valueOf(twins(proto2), joined(group(1, field(1, 5)), group(1)))).toStrictEqual({ inner: { a: 5 }, many: [] });
});

test("maps with text keys are objects without prototype, others are Maps; an absent key or value is a zero", () => {
  const readers = twins(proto3("map<string, int32> a = 1; map<int64, string> b = 2; map<bool, N> c = 3;", "message N { int32 x = 1; }"));
  const bytes = joined(
    field(1, joined(field(1, "__proto__"), field(2, 1))),
    field(1, field(1, "constructor")),
    field(1, joined(field(2, 7), field(1, "late"))),
    field(2, joined(field(1, 2n ** 60n), field(2, "x"))),
    field(2, field(2, "y")),
    field(3, field(1, 1)),
  );
  const value = valueOf(readers, bytes) as { a: object; b: Map<unknown, unknown>; c: Map<unknown, unknown> };
  expect(Object.getPrototypeOf(value.a)).toBeNull();
  expect(Object.entries(value.a)).toEqual([
    ["__proto__", 1],
    ["constructor", 0],
    ["late", 7],
  ]);
  expect([...value.b]).toEqual([
    [2n ** 60n, "x"],
    [0, "y"],
  ]);
  expect([...value.c]).toEqual([[true, { x: 0 }]]);
});

describe("Google's and Confluent's own messages", () => {
  const imports = 'import "google/protobuf/timestamp.proto";';
  const read = (type: string, bytes: Uint8Array, values = {}): unknown =>
    (valueOf(twins(`syntax = "proto3"; ${imports} message M { ${type} a = 1; }`, { values }), field(1, bytes)) as { a: unknown }).a;

  test("timestamps are instants", () => {
    const bytes = joined(field(1, 1_723_115_239), field(2, 782_690_123));
    expect(read("google.protobuf.Timestamp", bytes)).toBe("2024-08-08T11:07:19.782690123Z");
    expect(read("google.protobuf.Timestamp", joined(field(1, -1), field(2, 500_000_000)))).toBe("1969-12-31T23:59:59.5Z");
    expect(read("google.protobuf.Timestamp", bytes, { time: "date" })).toEqual(new Date(1_723_115_239_782));
    expect(read("google.protobuf.Timestamp", bytes, { time: "raw", int64: "bigint" })).toEqual({
      seconds: 1_723_115_239n,
      nanos: 782_690_123,
    });
  });

  test("a timestamp out of range is refused", () => {
    const readers = twins(`syntax = "proto3"; message M { google.protobuf.Timestamp a = 1; }`);
    expect(readBoth(readers, field(1, field(2, -1)))).toEqual({ code: "value-invalid" });
    expect(readBoth(readers, field(1, field(1, 2n ** 60n)))).toEqual({ code: "value-invalid" });
  });

  test("durations, dates and times of day are ISO 8601 texts", () => {
    expect(read("google.protobuf.Duration", joined(field(1, 90), field(2, 500_000_000)))).toBe("PT90.5S");
    expect(read("google.protobuf.Duration", joined(field(1, -1), field(2, -1)))).toBe("PT-1.000000001S");
    expect(read("google.type.Date", joined(field(1, 2024), field(2, 2), field(3, 29)))).toBe("2024-02-29");
    expect(read("google.type.Date", joined(field(1, 2024), field(2, 2)))).toBe("2024-02-00");
    expect(read("google.type.TimeOfDay", joined(field(1, 23), field(2, 59), field(3, 59), field(4, 999_000_000)))).toBe("23:59:59.999");
  });

  test("a wrapper becomes its value", () => {
    expect(read("google.protobuf.Int64Value", field(1, 5))).toBe(5);
    expect(read("google.protobuf.Int64Value", field(1, 5), { int64: "bigint" })).toBe(5n);
    expect(read("google.protobuf.StringValue", Buffer.alloc(0))).toBe("");
    expect(read("google.protobuf.BytesValue", field(1, "x"))).toEqual(Buffer.from("x"));
  });

  test("google.protobuf.Value, ListValue and Struct become plain values", () => {
    const value = (number: number, content: number | string | Uint8Array): Buffer => field(number, content);
    const list = value(6, joined(field(1, value(4, 1)), field(1, value(1, 0)), field(1, value(3, "x"))));
    const struct = value(5, field(1, joined(field(1, "k"), field(2, list))));
    expect(read("google.protobuf.Value", struct)).toEqual({ k: [true, null, "x"] });
    expect(read("google.protobuf.Value", hex("11 00 00 00 00 00 00 f8 3f"))).toBe(1.5);
    expect(read("google.protobuf.Value", hex("20 00"))).toBe(false);
  });

  test("decimals keep their scale", () => {
    const decimal = joined(field(1, Buffer.from([0x30, 0x39])), field(2, 9), field(3, 2));
    expect(read("confluent.type.Decimal", decimal)).toBe("123.45");
    expect(read("confluent.type.Decimal", decimal, { decimal: "number" })).toBe(123.45);
    expect(
      read("confluent.type.Decimal", joined(field(1, Buffer.from([0xff])), field(3, 4)), { decimal: (u: bigint, s: number) => [u, s] }),
    ).toEqual([-1n, 4]);
    expect(readBoth(twins(proto3("confluent.type.Decimal a = 1;")), field(1, Buffer.alloc(0)))).toEqual({ code: "value-invalid" });
    expect(readBoth(twins(proto3("confluent.type.Decimal a = 1;")), field(1, field(3, 2 ** 31 - 1)))).toEqual({ code: "value-invalid" });
  });

  test("variants become their two parts", () => {
    expect(read("confluent.type.Variant", joined(field(1, "m"), field(2, "v")))).toEqual({
      metadata: Buffer.from("m"),
      value: Buffer.from("v"),
    });
  });

  test("an Any is decoded if its message is known, and stays bytes if not", () => {
    const schema = `syntax = "proto3"; package p; message M { google.protobuf.Any a = 1; } message N { int32 x = 1; }`;
    const known = joined(field(1, "type.googleapis.com/p.N"), field(2, field(1, 5)));
    expect(valueOf(twins(schema), field(1, known))).toEqual({ a: { typeUrl: "type.googleapis.com/p.N", value: { x: 5 } } });
    expect(valueOf(twins(schema), field(1, joined(field(1, "t/q.N"), field(2, "x"))))).toEqual({
      a: { typeUrl: "t/q.N", value: Buffer.from("x") },
    });
  });

  test("a well-known message can be the whole payload", () => {
    const message = { kind: "name", name: "google.protobuf.StringValue" } as const;
    expect(valueOf(twins("syntax = 'proto3'; message M {}", { message }), field(1, "key"))).toBe("key");
  });
});

describe("rows", () => {
  const placeholder = "__debezium_unavailable_value";
  const row =
    "message Row { int64 id = 1; string note = 2; bytes blob = 3; repeated int32 nums = 4; repeated string texts = 5; map<string, string> attrs = 6; google.protobuf.StringValue maybe = 7; int64 at = 8; Price price = 9; message Price { bytes value = 1; int32 scale = 2; } }";
  const envelope = `syntax = "proto3"; package t; message Envelope { Row before = 1; Row after = 2; Source source = 3; string op = 4; int64 ts_ns = 5; ${row} message Source { string connector = 1; string table = 2; int64 lsn = 3; optional string schema = 4; } }`;
  const resolve = (peeked: readonly unknown[]): unknown => peeked;
  const plan: ReadPlan = {
    rows: ["before", "after"],
    skip: ["ts_ns"],
    defer: { field: "source", peek: ["connector", "db", "table", "schema"], resolve },
  };
  const gone = joined(
    field(1, 5),
    field(2, placeholder),
    field(3, placeholder),
    field(4, joined(...[...Buffer.from(placeholder)].map((byte) => varint(byte)))),
    field(5, placeholder),
    field(6, joined(field(1, placeholder), field(2, placeholder))),
    field(7, field(1, placeholder)),
  );

  test("the placeholder of an unchanged TOAST column is UNAVAILABLE, in rows only", () => {
    const after = {
      id: 5,
      note: UNAVAILABLE,
      blob: UNAVAILABLE,
      nums: UNAVAILABLE,
      texts: UNAVAILABLE,
      attrs: UNAVAILABLE,
      maybe: UNAVAILABLE,
      at: 0,
      price: null,
    };
    expect(valueOf(twins(envelope, { plan }), field(2, gone))).toMatchObject({ before: null, after });
    expect(valueOf(twins(envelope), field(2, gone))).toMatchObject({ after: { note: placeholder } });
    const self = { kind: "name", name: "t.Envelope.Row" } as const;
    expect(valueOf(twins(envelope, { plan: { ...plan, defer: null, rows: "self" }, message: self }), gone)).toEqual(after);
  });

  test("the source is read on first access, and skipped fields are absent", () => {
    const source = joined(field(1, "postgresql"), field(2, "orders"), field(3, 2n ** 60n));
    const bytes = joined(field(3, source), field(4, "c"), field(5, 7));
    for (const reader of twins(envelope, { plan })) {
      const value = reader.read(bytes, 0, bytes.length) as Record<string, unknown>;
      expect(Object.keys(value)).toEqual(["before", "after", "source", "op"]);
      const deferred = value["source"] as Deferred;
      expect(deferred).toBeInstanceOf(Deferred);
      expect(deferred.peeked).toEqual(["postgresql", undefined, "orders", null]);
      expect(deferred.value).toEqual({ connector: "postgresql", table: "orders", lsn: 2n ** 60n, schema: null });
    }
  });

  test("a bad deferred part fails when it is read, and its length is checked at once", () => {
    const bytes = joined(field(3, joined(field(3, "not an int64"), hex("18 80"))), field(4, "c"));
    expect(readBoth(twins(envelope, { plan }), bytes)).toEqual({ code: "truncated" });
  });

  test("hinted semantics apply to columns whose schema declares none", () => {
    const columns = new Map([
      ["at", { name: "io.debezium.time.MicroTimestamp", parameters: {} }],
      ["maybe", { name: "io.debezium.data.Json", parameters: {} }],
      ["blob", { name: "org.apache.kafka.connect.data.Decimal", parameters: { scale: "2" } }],
      ["price", { name: "io.debezium.data.VariableScaleDecimal", parameters: {} }],
    ]);
    const after = joined(
      field(3, Buffer.from([0x30, 0x39])),
      field(7, field(1, '{"a":9007199254740993}')),
      field(8, 1_723_115_239_782_690n),
      field(9, joined(field(1, Buffer.from([5])), field(2, 1))),
    );
    expect(valueOf(twins(envelope, { plan, columns, values: { json: "parse" } }), field(2, after))).toMatchObject({
      after: { at: "2024-08-08T11:07:19.78269", blob: "123.45", maybe: { a: 9_007_199_254_740_993n }, price: "0.5" },
    });
  });

  test("an absent column is null if its semantics do not allow a zero", () => {
    const columns = new Map([["blob", { name: "org.apache.kafka.connect.data.Decimal", parameters: { scale: "2" } }]]);
    expect(valueOf(twins(envelope, { plan, columns }), field(2, field(1, 5)))).toMatchObject({ after: { blob: null } });
  });

  test("Debezium's structs are recognised by the last part of their name", () => {
    const struct = (message: string): string =>
      `syntax = "proto3"; message M { ${message} a = 1; message VariableScaleDecimal { int32 scale = 1; bytes value = 2; } message Point { double x = 1; } }`;
    const rows: ReadPlan = { rows: "self", skip: [], defer: null };
    expect(
      valueOf(twins(struct("VariableScaleDecimal"), { plan: rows }), field(1, joined(field(1, 1), field(2, Buffer.from([5]))))),
    ).toEqual({ a: "0.5" });
    expect(valueOf(twins(struct("Point"), { plan: rows }), field(1, Buffer.alloc(0)))).toEqual({ a: { x: 0 } });
  });

  test("a field has the semantics that its schema notes", () => {
    const schema =
      proto3(`int64 a = 1 [(confluent.field_meta) = { params: [{ key: "connect.name", value: "io.debezium.time.MicroTimestamp" }] }];
      int32 b = 2 [(confluent.field_meta) = { params: { key: "connect.type" value: "int16" } }];`);
    expect(valueOf(twins(schema), joined(field(1, 1), field(2, 3)))).toEqual({ a: "1970-01-01T00:00:00.000001", b: 3 });
  });
});

test("the type describes the values of the reader", () => {
  const schema = parseProto(
    proto3(
      "int64 a = 1; optional string b = 2; repeated M c = 3; map<string, bool> d = 4; E e = 5; google.protobuf.Timestamp f = 6; google.protobuf.StringValue g = 7;",
      "enum E { X = 0; }",
    ),
  );
  const type = schema.typeOf(null);
  expect(type).toMatchObject({
    kind: "record",
    name: "M",
    fields: [
      { name: "a", type: { kind: "long" } },
      { name: "b", type: { kind: "union", branches: [{ kind: "null" }, { kind: "string" }] } },
      { name: "c", type: { kind: "array" } },
      { name: "d", type: { kind: "map", keys: null, values: { kind: "boolean" } } },
      { name: "e", type: { kind: "enum", symbols: ["X"] } },
      {
        name: "f",
        type: { kind: "union", branches: [{ kind: "null" }, { kind: "record", semantic: { name: "google.protobuf.Timestamp" } }] },
      },
      { name: "g", type: { kind: "union", branches: [{ kind: "null" }, { kind: "string" }] } },
    ],
  });
  expect(type?.kind === "record" && type.fields[2]?.type.kind === "array" && type.fields[2].type.items).toBe(type);
});
