import { describe, expect, test } from "vitest";
import { resolveLimits } from "../../options.ts";
import type { Deferred, ReadPlan } from "../reader.ts";
import type { RecordType } from "../type.ts";
import { avroType, long, outcomeOf, readBoth, sized, text, twins } from "./twins.contract.ts";

const zero = Buffer.from([0]);
const record = (fields: Record<string, unknown>, name = "R"): unknown => ({
  type: "record",
  name,
  fields: Object.entries(fields).map(([field, type]) => ({ name: field, type })),
});
const arrayOf = (items: unknown): unknown => ({ type: "array", items });
const mapOf = (values: unknown): unknown => ({ type: "map", values });

/** Reads with both twins, then again after a field that is skipped. Skipping must be as strict. */
function attack(schema: unknown, payload: Buffer): unknown {
  const outcome = readBoth(twins(avroType(schema)), payload);
  const skipping: ReadPlan = { defer: null, skip: ["attacked"], rows: [] };
  const skipped = readBoth(twins(avroType(record({ attacked: schema }, "Skipping")), { plan: skipping }), payload);
  expect("code" in outcome ? outcome : "value").toEqual("code" in skipped ? skipped : "value");
  return outcome;
}

describe("items without bytes", () => {
  test.each([
    ["null", "null"],
    ["an empty record", record({}, "Empty")],
    ["a fixed of size 0", { type: "fixed", name: "F", size: 0 }],
    ["a record of nulls", record({ a: "null", b: "null" }, "Nulls")],
  ])("an array of %s ends at the limit, whatever count it states", (_name, items) => {
    for (const count of [65_537, 2_000_000, 2n ** 62n]) {
      expect(attack(arrayOf(items), Buffer.concat([long(count), zero]))).toEqual({ code: "limit-exceeded" });
    }
  });

  test("up to the limit they are read", () => {
    const outcome = attack(arrayOf("null"), Buffer.concat([long(65_536), zero])) as { value: unknown[] };
    expect(outcome.value).toHaveLength(65_536);
  });

  test("16 fields below the limit are together above it", () => {
    const fields = Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`f${i}`, arrayOf("null")]));
    const payload = Buffer.concat(Array.from({ length: 16 }, () => Buffer.concat([long(60_000), zero])));
    expect(attack(record(fields), payload)).toEqual({ code: "limit-exceeded" });
  });

  test("all blocks of one array count together", () => {
    const blocks = Array.from({ length: 3 }, () => long(30_000));
    expect(attack(arrayOf("null"), Buffer.concat([...blocks, zero]))).toEqual({ code: "limit-exceeded" });
  });

  test("blocks that state a size of 0 bytes count too", () => {
    expect(attack(arrayOf("null"), Buffer.concat([long(-70_000), long(0), zero]))).toEqual({ code: "limit-exceeded" });
  });

  test("the budget is per message: the next message has the full budget", () => {
    const [generated, closures] = twins(avroType(arrayOf("null")));
    const payload = Buffer.concat([long(60_000), zero]);
    const tooMany = Buffer.concat([long(70_000), zero]);
    for (const reader of [generated, closures]) {
      reader.read(payload, 0, payload.length);
      expect(outcomeOf(() => reader.read(tooMany, 0, tooMany.length))).toEqual({ code: "limit-exceeded" });
      expect(reader.read(payload, 0, payload.length)).toHaveLength(60_000);
    }
  });

  test("records of records that double at each level and take no bytes end at the limit", () => {
    let type: unknown = record({}, "R0");
    for (let i = 1; i <= 40; i++) {
      type = {
        type: "record",
        name: `R${i}`,
        fields: [
          { name: "a", type },
          { name: "b", type: `R${i - 1}` },
        ],
      };
    }
    expect(attack(type, Buffer.alloc(0))).toEqual({ code: "limit-exceeded" });
  });

  test("nulls beside a byte in the items of an array count as well", () => {
    const fields = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`f${i}`, "null"]));
    const payload = Buffer.concat([long(1_000), Buffer.alloc(1_000), zero]);
    expect(attack(arrayOf(record({ ...fields, b: "boolean" })), payload)).toEqual({ code: "limit-exceeded" });
  });
});

describe("objects that cost much more than their bytes", () => {
  const date = { type: "int", logicalType: "date" };

  test.each<[string, unknown]>([
    ["arrays of no items", arrayOf("int")],
    ["records of one long", record({ x: "long" }, "I")],
    ["records in records", record({ x: record({ y: record({ z: "int" }, "K") }, "J") }, "I")],
    ["maps of no entries", mapOf("int")],
    ["maps with keys of integers, of no entries", arrayOf(record({ key: "int", value: "int" }, "io.confluent.connect.avro.MapEntry"))],
    ["byte strings of one byte", { type: "fixed", name: "F", size: 1 }],
    ["strings of no letters", "string"],
    ["dates", date],
    ["timestamps", { type: "long", logicalType: "timestamp-millis" }],
    ["decimals", { type: "fixed", name: "D", size: 1, logicalType: "decimal", precision: 2, scale: 1 }],
  ])("a message of a million %s ends at the limit, read or skipped", (_name, items) => {
    expect(attack(arrayOf(items), Buffer.concat([long(1_000_000), Buffer.alloc(1_000_001)]))).toEqual({ code: "limit-exceeded" });
  });

  test("decimals of a thousand digits cost by their length: 2,500 exceed the limit, 1,000 are read", () => {
    const decimal = { type: "bytes", logicalType: "decimal", precision: 1_000, scale: 2 };
    const list = (count: number): Buffer =>
      Buffer.concat([long(count), ...Array.from({ length: count }, () => sized(Buffer.alloc(415, 0x5a))), zero]);
    expect(attack(arrayOf(decimal), list(2_500))).toEqual({ code: "limit-exceeded" });
    expect((attack(arrayOf(decimal), list(1_000)) as { value: unknown[] }).value).toHaveLength(1_000);
    const fixed = { type: "fixed", name: "D", size: 415, logicalType: "decimal", precision: 999, scale: 2 };
    const sides = Buffer.concat([long(2_500), Buffer.alloc(2_500 * 415, 0x5a), zero]);
    expect(attack(arrayOf(fixed), sides)).toEqual({ code: "limit-exceeded" });
  });

  test("only the branch of a union that is chosen costs", () => {
    const schema = arrayOf(["null", date]);
    const count = 500_000;
    expect(readBoth(twins(avroType(schema)), Buffer.concat([long(count), Buffer.alloc(count), zero]))).toHaveProperty("value");
    expect(attack(schema, Buffer.concat([long(count), Buffer.alloc(count * 2, 2), zero]))).toEqual({ code: "limit-exceeded" });
  });

  test("a tree of records that contain themselves exceeds the limit", () => {
    const tree = record({ kids: arrayOf("R") });
    expect(attack(tree, Buffer.concat([long(1_000_000), Buffer.alloc(1_000_001)]))).toEqual({ code: "limit-exceeded" });
  });

  test("half a million blocks of one item exceed the limit, 100,000 are read", () => {
    const blocks = (count: number): Buffer => Buffer.concat([Buffer.alloc(count * 2, 2), zero]);
    expect(attack(arrayOf("int"), blocks(500_000))).toEqual({ code: "limit-exceeded" });
    const outcome = attack(arrayOf("int"), blocks(100_000)) as { value: unknown[] };
    expect(outcome.value).toHaveLength(100_000);
  });

  test("arrays that each announce as many items as bytes are left stay within the cost budget", () => {
    let type: unknown = "int";
    for (let i = 0; i < 30; i++) {
      type = arrayOf(type);
    }
    const counts = Array.from({ length: 30 }, () => long(900_000));
    expect(attack(type, Buffer.concat([...counts, Buffer.alloc(1_000_000)]))).toEqual({ code: "limit-exceeded" });
  });

  test("a map of 100,000 keys exceeds the limit, 10,000 maps of ten keys are read", () => {
    const entries = (count: number): Buffer =>
      Buffer.concat([long(count), ...Array.from({ length: count }, (_, i) => Buffer.concat([text(`k${i}`), long(i)])), zero]);
    expect(attack(mapOf("int"), entries(100_000))).toEqual({ code: "limit-exceeded" });
    const many = Buffer.concat([long(10_000), ...new Array<Buffer>(10_000).fill(entries(10)), zero]);
    const outcome = attack(arrayOf(mapOf("int")), many) as { value: unknown[] };
    expect(outcome.value).toHaveLength(10_000);
  });

  test("a row of many columns has no cost: its schema bounds it", () => {
    const wide = record(Object.fromEntries(Array.from({ length: 4_000 }, (_, i) => [`c${i}`, date])));
    const [generated, closures] = twins(avroType(wide), { limits: { maxCostPerByte: 1 } });
    expect(readBoth([generated, closures], Buffer.alloc(4_000))).toHaveProperty("value");
  });

  test("any number of objects with content is read", () => {
    const item = Buffer.concat([long(6), Buffer.from("abcdef")]);
    const payload = Buffer.concat([long(150_000), ...new Array<Buffer>(150_000).fill(item), zero]);
    for (const reader of twins(avroType(arrayOf("bytes")))) {
      expect(reader.read(payload, 0, payload.length)).toHaveLength(150_000);
    }
  });
});

describe("counts and lengths", () => {
  test.each<[string, unknown, number]>([
    ["int", "int", 101],
    ["double", "double", 13],
    ["an optional long: the branch alone is a byte", ["null", "long"], 101],
    ["a fixed of 50", { type: "fixed", name: "F", size: 50 }, 3],
    ["two ints", record({ a: "int", b: "int" }, "Two"), 51],
  ])("a count beyond what 100 bytes can hold of %s is refused at once", (_name, items, count) => {
    expect(attack(arrayOf(items), Buffer.concat([long(count), Buffer.alloc(100)]))).toEqual({ code: "truncated" });
  });

  test("an item of a map takes a byte for the key, even if its value takes none", () => {
    expect(attack(mapOf("null"), Buffer.concat([long(1_000_000), Buffer.alloc(100)]))).toEqual({ code: "truncated" });
  });

  test.each([
    ["2^62", 2n ** 62n],
    ["the least int64", -(2n ** 63n)],
    ["the largest int64", 2n ** 63n - 1n],
  ])("a count of %s is refused", (_name, count) => {
    for (const schema of [arrayOf("int"), mapOf("int"), arrayOf("null")]) {
      const outcome = attack(schema, Buffer.concat([long(count), zero, zero, zero]));
      expect(["truncated", "limit-exceeded"]).toContain((outcome as { code: string }).code);
    }
  });

  test("a block with a negative count is read if its size is right", () => {
    const payload = Buffer.concat([long(-3), long(3), Buffer.from([2, 4, 6]), long(1), long(4), zero]);
    expect(attack(arrayOf("int"), payload)).toEqual({ value: [1, 2, 3, 4] });
    expect(attack(mapOf("int"), Buffer.concat([long(-1), long(3), text("k"), long(1), zero]))).toEqual({
      value: Object.assign(Object.create(null) as object, { k: 1 }),
    });
  });

  test.each([
    ["too small", 2],
    ["too large", 4],
  ])("a block of a negative count whose size is %s is malformed", (_name, size) => {
    const payload = Buffer.concat([long(-3), long(size), Buffer.from([2, 4, 6]), zero]);
    expect(attack(arrayOf("int"), payload)).toEqual({ code: "malformed" });
  });

  test("a block with a negative size is malformed, and one larger than the rest is truncated", () => {
    expect(attack(arrayOf("int"), Buffer.concat([long(-1), long(-5), Buffer.from([2]), zero]))).toEqual({ code: "malformed" });
    expect(attack(arrayOf("int"), Buffer.concat([long(-1), long(500), Buffer.from([2]), zero]))).toEqual({ code: "truncated" });
    expect(attack(arrayOf("int"), Buffer.concat([long(-1), long(-(2n ** 63n)), zero]))).toEqual({ code: "malformed" });
  });

  test.each(["string", "bytes"])("a %s of negative length is malformed, one beyond the rest truncated", (type) => {
    const schema = record({ a: type });
    expect(attack(schema, long(-1))).toEqual({ code: "malformed" });
    expect(attack(schema, long(-(2n ** 63n)))).toEqual({ code: "malformed" });
    expect(attack(schema, Buffer.concat([long(4), Buffer.alloc(3)]))).toEqual({ code: "truncated" });
    expect(attack(schema, Buffer.concat([long(2n ** 62n), Buffer.alloc(3)]))).toEqual({ code: "truncated" });
  });

  test("a million pairs with the same key are bounded by their bytes", () => {
    expect(attack(mapOf("null"), Buffer.concat([long(50), Buffer.alloc(50), zero]))).toEqual({
      value: Object.assign(Object.create(null) as object, { "": null }),
    });
  });
});

describe("varints", () => {
  const padded = (length: number, last: number): Buffer => Buffer.from([...new Array<number>(length - 1).fill(0x80), last]);

  test("an int has at most 5 bytes, and no bit above the 32nd", () => {
    expect(attack("int", padded(5, 0x0f))).toEqual({ value: 2_013_265_920 });
    expect(attack("int", padded(5, 0x10))).toEqual({ code: "malformed" });
    expect(attack("int", padded(6, 0))).toEqual({ code: "malformed" });
    expect(attack("int", Buffer.alloc(64, 0x80))).toEqual({ code: "malformed" });
  });

  test("a long has at most 10 bytes, and no bit above the 64th", () => {
    expect(attack("long", padded(10, 0x01))).toEqual({ value: 2n ** 62n });
    expect(attack("long", padded(10, 0x02))).toEqual({ code: "malformed" });
    expect(attack("long", padded(11, 0))).toEqual({ code: "malformed" });
    expect(attack("long", Buffer.alloc(64, 0x80))).toEqual({ code: "malformed" });
  });

  test("a varint with more bytes than it needs is read", () => {
    expect(attack("long", padded(10, 0))).toEqual({ value: 0 });
    expect(attack(["null", "boolean"], Buffer.from([0x82, 0x00, 0x01]))).toEqual({ value: true });
    expect(attack(record({ s: "string" }), Buffer.from([0x82, 0x00, 0x61]))).toEqual({ value: { s: "a" } });
  });

  test("the ends of int64 are exact", () => {
    expect(attack("long", long(-(2n ** 63n)))).toEqual({ value: -(2n ** 63n) });
    expect(attack("long", long(2n ** 63n - 1n))).toEqual({ value: 2n ** 63n - 1n });
    expect(attack("long", long(-(2n ** 53n)))).toEqual({ value: -(2n ** 53n) });
  });

  test.each([[2], [3], [64], [200]])("a branch, a symbol: %i of them and no more", (count) => {
    const symbols = Array.from({ length: count }, (_, i) => `S${i}`);
    const schema = { type: "enum", name: "E", symbols };
    expect(attack(schema, long(count - 1))).toEqual({ value: `S${count - 1}` });
    const branches = Array.from({ length: count }, (_, i) => record({ x: "int" }, `B${i}`));
    expect(attack(branches, Buffer.concat([long(count - 1), long(7)]))).toEqual({ value: { x: 7 } });
    for (const index of [count, -1, 2n ** 40n, -(2n ** 63n)]) {
      expect(attack(schema, long(index))).toEqual({ code: "malformed" });
      expect(attack(branches, Buffer.concat([long(index), long(7)]))).toEqual({ code: "malformed" });
    }
  });

  test("a boolean is 0 or 1", () => {
    expect(attack("boolean", Buffer.from([2]))).toEqual({ code: "malformed" });
  });
});

describe("text", () => {
  test.each([
    ["a lone continuation byte", [0x80]],
    ["an overlong slash", [0xc0, 0xaf]],
    ["a surrogate", [0xed, 0xa0, 0x80]],
    ["a cut sequence at the end of a long text", [...new Array<number>(100).fill(0x61), 0xe2, 0x82]],
    ["Latin-1", [0x63, 0x61, 0x66, 0xe9]],
  ])("%s is invalid, and never a replacement character", (_name, content) => {
    const readers = twins(avroType("string"));
    expect(readBoth(readers, sized(Buffer.from(content)))).toEqual({ code: "invalid-utf8" });
    expect(readBoth(twins(avroType(mapOf("int"))), Buffer.concat([long(1), sized(Buffer.from(content)), zero, zero]))).toEqual({
      code: "invalid-utf8",
    });
  });

  test("a replacement character that was sent stays", () => {
    expect(readBoth(twins(avroType("string")), text("a\ufffdb"))).toEqual({ value: "a\ufffdb" });
  });

  test("bytes that match the Latin-1 characters of an earlier text are not confused with it", () => {
    const readers = twins(avroType("string"));
    expect(readBoth(readers, text("\u00c3\u00a9"))).toEqual({ value: "\u00c3\u00a9" });
    expect(readBoth(readers, text("\u00e9"))).toEqual({ value: "\u00e9" });
    expect(readBoth(readers, sized(Buffer.from([0xc3, 0xe9])))).toEqual({ code: "invalid-utf8" });
  });
});

describe("depth", () => {
  const list = { type: "record", name: "List", fields: [{ name: "next", type: ["null", "List"] }] };
  const nested = (depth: number): Buffer => Buffer.concat([Buffer.alloc(depth - 1, 0x02), zero]);

  test("a recursive record is read down to the limit, and refused below it", () => {
    expect(attack(list, nested(63))).toHaveProperty("value");
    expect(readBoth(twins(avroType(list)), nested(64))).toHaveProperty("value");
    expect(readBoth(twins(avroType(list)), nested(65))).toEqual({ code: "limit-exceeded" });
    expect(attack(list, Buffer.alloc(1_000_000, 0x02))).toEqual({ code: "limit-exceeded" });
  });

  test("arrays and maps are levels as well", () => {
    const tree = { type: "record", name: "Tree", fields: [{ name: "sub", type: arrayOf(mapOf("Tree")) }] };
    const level = Buffer.concat([long(1), long(1), text("k")]);
    const payload = Buffer.concat(Array.from({ length: 1_000 }, () => level));
    expect(attack(tree, payload)).toEqual({ code: "limit-exceeded" });
  });

  test("a record that contains itself without an end exceeds the limit", () => {
    const endless = {
      type: "record",
      name: "A",
      fields: [
        { name: "a", type: "A" },
        { name: "b", type: "A" },
      ],
    };
    expect(attack(endless, Buffer.alloc(10))).toEqual({ code: "limit-exceeded" });
  });

  test("a limit below the schema's own nesting is enforced", () => {
    const schema = record({ a: record({ b: arrayOf("int") }, "Inner") });
    const payload = Buffer.concat([long(1), long(5), zero]);
    expect(readBoth(twins(avroType(schema), { limits: { maxDepth: 3 } }), payload)).toEqual({ value: { a: { b: [5] } } });
    expect(readBoth(twins(avroType(schema), { limits: { maxDepth: 2 } }), payload)).toEqual({ code: "limit-exceeded" });
  });
});

describe("names", () => {
  const wild = [
    "__proto__",
    "constructor",
    "toString",
    'a"b',
    "a'b",
    "a`b${process.exit(1)}",
    "a\nb",
    "a\\b",
    "\u2028\u2029",
    "*/ process.exit(1) /*",
    "]}); process.exit(1); ({[",
    "",
    "1",
  ];

  test("a field with any name is an own property", () => {
    const schema = record(Object.fromEntries(wild.map((name) => [name, "int"])));
    const fields = (avroType(schema) as RecordType).fields.map(({ name }) => name);
    const payload = Buffer.concat(fields.map((_, i) => long(i)));
    const [generated, closures] = twins(avroType(schema));
    for (const reader of [generated, closures]) {
      const value = reader.read(payload, 0, payload.length) as Record<string, unknown>;
      expect(Object.keys(value).sort()).toEqual([...fields].sort());
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
      expect(fields.every((name, i) => Object.getOwnPropertyDescriptor(value, name)?.value === i)).toBe(true);
    }
  });

  test("a field with any name is an own property, in a record that is read in parts", () => {
    const names = [...Array.from({ length: 300 }, (_, i) => `c${i}`), "__proto__", 'x"\u2028`'];
    const schema = { type: "record", name: "Wide", fields: names.map((name) => ({ name, type: ["null", "int"] })) };
    const payload = Buffer.concat(names.map((_, i) => (i % 3 === 0 ? zero : Buffer.concat([long(1), long(i)]))));
    const outcome = attack(schema, payload) as { value: Record<string, unknown> };
    expect(Object.keys(outcome.value)).toEqual(names);
    expect(names.every((name, i) => Object.getOwnPropertyDescriptor(outcome.value, name)?.value === (i % 3 === 0 ? null : i))).toBe(true);
    expect(Object.getPrototypeOf(outcome.value)).toBe(Object.prototype);
  });

  test("a map key is an own property, and its object has no prototype", () => {
    for (const name of wild) {
      const outcome = readBoth(twins(avroType(mapOf("string"))), Buffer.concat([long(1), text(name), text("v"), zero]));
      const value = (outcome as { value: object }).value;
      expect(Object.getPrototypeOf(value)).toBe(null);
      expect(Object.getOwnPropertyDescriptor(value, name)?.value).toBe("v");
    }
  });

  test("names of types and symbols are only data", () => {
    for (const name of wild.filter((candidate) => candidate !== "")) {
      const schema = record({ e: { type: "enum", name, symbols: [name] }, r: record({ [name]: ["null", name] }, `${name}2`) });
      expect(readBoth(twins(avroType(schema)), Buffer.from([0, 2, 0]))).toHaveProperty("value.e", name);
    }
  });

  test("schema text reaches generated code only as a constant", () => {
    const key = "cdckitInjected";
    const bad = [`"]};globalThis.${key}=1;({["`, `\`;globalThis.${key}=1;\``, `\u2028globalThis.${key}=1;`, `'+(globalThis.${key}=1)+'`];
    for (const name of bad) {
      const plan: ReadPlan = { defer: { field: name, peek: [name], resolve: () => null }, skip: [`${name}s`], rows: [] };
      const schema = record({ [name]: record({ [name]: "string" }, name), [`${name}s`]: "int", [`${name}t`]: "int" }, `${name}r`);
      const payload = Buffer.concat([text("x"), zero, zero]);
      for (const reader of twins(avroType(schema), { plan })) {
        const value = reader.read(payload, 0, payload.length) as Record<string, Deferred>;
        expect(value[name]?.value).toEqual({ [name]: "x" });
      }
    }
    expect(key in globalThis).toBe(false);
  });
});

test("closures read a schema of very many columns, with the same result", () => {
  const names = Array.from({ length: 6_000 }, (_, i) => `c${i}`);
  const type = avroType({ type: "record", name: "Wide", fields: names.map((name) => ({ name, type: "int" })) });
  const payload = Buffer.concat(names.map((_, i) => long(i)));
  const outcome = readBoth(twins(type), payload) as { value: Record<string, unknown> };
  expect(Object.values(outcome.value)).toEqual(names.map((_, i) => i));
});

test("closures read if code generation is off, without generating any code", () => {
  const [, closures] = twins(avroType("int"), { limits: resolveLimits() });
  expect(closures.read(long(5), 0, 1)).toBe(5);
});
