import { describe, expect, test } from "vitest";
import { field, group, joined, outcomeOf, proto3, readBoth, type Twins, twins, valueOf, varint } from "./twins.contract.ts";

function hex(text: string): Buffer {
  return Buffer.from(text.replaceAll(" ", ""), "hex");
}

const schema = proto3(
  "int32 a = 1; int64 b = 2; string c = 3; bytes d = 4; repeated int32 e = 5; repeated double f = 6; N n = 7; repeated N many = 8; map<string, int32> m = 9; float g = 10; bool h = 11; M self = 12;",
  "message N { int32 x = 1; }",
);

describe("bytes that are not a valid message", () => {
  const cases: readonly (readonly [string, Buffer, string])[] = [
    ["the field number 0", hex("00 01"), "malformed"],
    ["the field number 0, its tag padded", hex("80 00 01"), "malformed"],
    ["the wire type 6", hex("0e"), "malformed"],
    ["the wire type 7", hex("0f 00"), "malformed"],
    ["a tag of more than 32 bits", hex("88 80 80 80 10 01"), "malformed"],
    ["a tag of six bytes", hex("88 80 80 80 80 00 01"), "malformed"],
    ["a tag that breaks off", hex("88"), "truncated"],
    ["a tag alone", hex("08"), "truncated"],
    ["a varint of eleven bytes", hex("10 80 80 80 80 80 80 80 80 80 80 00"), "malformed"],
    ["an int32 of eleven bytes", hex("08 80 80 80 80 80 80 80 80 80 80 00"), "malformed"],
    ["a bool of eleven bytes", hex("58 80 80 80 80 80 80 80 80 80 80 00"), "malformed"],
    ["an int64 of more than 64 bits", hex("10 ff ff ff ff ff ff ff ff ff 02"), "malformed"],
    ["an int32 of more than 64 bits", hex("08 ff ff ff ff ff ff ff ff ff 02"), "malformed"],
    ["a varint that breaks off", hex("10 ff ff ff"), "truncated"],
    ["a length beyond the end", hex("1a 05 61"), "truncated"],
    ["a length of 2^63", hex("1a ff ff ff ff ff ff ff ff 7f"), "truncated"],
    ["a negative length", hex("1a ff ff ff ff ff ff ff ff ff 01"), "truncated"],
    ["an unknown length beyond the end", hex("fa 06 05 61"), "truncated"],
    ["packed values that break off", hex("2a 02 01 80"), "truncated"],
    ["packed doubles of another length", hex("32 09 00 00 00 00 00 00 00 00 00"), "truncated"],
    ["a float that breaks off", hex("55 00 00"), "truncated"],
    ["a message longer than the one around it", hex("62 02 3a 05 08 01 08 01 08 01"), "truncated"],
    ["the end of a group that does not begin", hex("0c"), "malformed"],
    ["a group that does not end", hex("a3 06 08 01"), "truncated"],
    ["a group that ends as another", hex("a3 06 08 01 ac 06"), "malformed"],
    ["groups that cross", hex("a3 06 ab 06 a4 06 ac 06"), "malformed"],
    ["text that is not UTF-8", hex("1a 02 c3 28"), "invalid-utf8"],
    ["text of a lone surrogate", hex("1a 03 ed a0 80"), "invalid-utf8"],
    ["overlong text", hex("1a 02 c0 80"), "invalid-utf8"],
  ];
  const readers = twins(schema);
  for (const [name, bytes, code] of cases) {
    test(`${name} at the start, and after other fields: ${code}`, () => {
      expect(readBoth(readers, bytes)).toEqual({ code });
      expect(readBoth(readers, joined(field(99, 1), bytes))).toEqual({ code });
      expect(readBoth(readers, field(12, bytes))).toEqual({ code });
    });
  }

  test("a message cut anywhere is an error, or a shorter message that ends there", () => {
    const whole = joined(
      field(1, 5),
      field(2, 2n ** 62n),
      field(3, "text"),
      field(5, hex("01 02 03")),
      field(7, field(1, 300)),
      field(9, joined(field(1, "k"), field(2, 1))),
    );
    const boundaries = new Set([0, 2, 12, 18, 23, 28, whole.length]);
    for (let end = 0; end <= whole.length; end++) {
      expect("value" in readBoth(readers, whole.subarray(0, end))).toBe(boundaries.has(end));
    }
  });
});

describe("depth", () => {
  test("messages may be nested as deep as the limit, and no deeper", () => {
    const nested = (depth: number): Buffer => (depth === 1 ? field(1, 1) : field(12, nested(depth - 1)));
    expect(readBoth(twins(schema, { limits: { maxDepth: 5 } }), nested(5))).toHaveProperty("value");
    expect(readBoth(twins(schema, { limits: { maxDepth: 5 } }), nested(6))).toEqual({ code: "limit-exceeded" });
  });

  test("nested unknown groups count towards the depth limit", () => {
    expect(readBoth(twins(schema), Buffer.alloc(1_000_000, hex("a3 06")))).toEqual({ code: "limit-exceeded" });
    const deep = (depth: number): Buffer => (depth === 0 ? Buffer.alloc(0) : group(100, deep(depth - 1)));
    expect(readBoth(twins(schema), deep(64))).toHaveProperty("value");
    expect(readBoth(twins(schema), deep(65))).toEqual({ code: "limit-exceeded" });
  });

  test("an Any in an Any and a list in a JSON value count towards the depth limit", () => {
    const any = (depth: number): Buffer =>
      joined(field(1, "t/google.protobuf.Any"), depth === 0 ? Buffer.alloc(0) : field(2, any(depth - 1)));
    expect(readBoth(twins(proto3("google.protobuf.Any a = 1;")), field(1, any(100)))).toEqual({ code: "limit-exceeded" });
    const list = (depth: number): Buffer => (depth === 0 ? field(4, 1) : field(6, field(1, list(depth - 1))));
    expect(readBoth(twins(proto3("google.protobuf.Value a = 1;")), field(1, list(100)))).toEqual({ code: "limit-exceeded" });
  });
});

describe("messages that cost much more than their bytes", () => {
  const mib = 2 ** 20;
  const fill = (part: Buffer): Buffer => Buffer.alloc(Math.floor(mib / part.length) * part.length, part);
  const wide = proto3(`repeated W w = 1;`, `message W { ${Array.from({ length: 1_000 }, (_, i) => `int32 f${i} = ${i + 1};`).join(" ")} }`);
  const maps = proto3("repeated W w = 1;", "message W { map<string, int32> a = 1; }");
  const everyWide = proto3(Array.from({ length: 1_000 }, (_, i) => `int32 f${i} = ${i + 1};`).join(" "));
  const thousand = Array.from({ length: 1_000 }, (_, i) => field(i + 1, 1));
  const two = "message N { int32 x = 1; int32 y = 2; }";
  /** Repeats pairs of these keys up to this many bytes. */
  const keyed = (key: (i: number) => string, min: number): Buffer => {
    const pairs: Buffer[] = [];
    for (let bytes = 0; bytes < min; bytes += pairs.at(-1)?.length ?? 0) {
      pairs.push(field(1, joined(field(1, key(pairs.length)), field(2, 1))));
    }
    return joined(...pairs);
  };
  const tenLabels = joined(...Array.from({ length: 10 }, (_, i) => field(1, joined(field(1, `label${i}`), field(2, 1)))));
  const numbered = (count: number): Buffer =>
    joined(...Array.from({ length: count }, (_, i) => field(1, joined(field(1, i), field(2, 1)))));
  const optionalGroup = "message M { optional group G = 1 { optional M m = 2; optional int32 x = 3; } }";
  const nestedGroups = (depth: number, content: Buffer): Buffer =>
    depth === 0 ? content : group(1, field(2, nestedGroups(depth - 1, content)));

  /** The result of both readers, without a look into a value of a million parts. */
  const verdicts = (readers: Twins, bytes: Buffer): readonly string[] =>
    readers.map((reader) => {
      const outcome = outcomeOf(() => reader.read(bytes, 0, bytes.length));
      return "code" in outcome ? outcome.code : "read";
    });

  const refused: readonly (readonly [string, Twins, Buffer])[] = [
    ["empty messages of a thousand fields", twins(wide), fill(field(1, Buffer.alloc(0)))],
    ["empty messages with maps", twins(maps), fill(field(1, Buffer.alloc(0)))],
    ["groups in groups, walked over and over", twins(optionalGroup), nestedGroups(30, fill(field(99, 1)))],
    ["pairs of nothing", twins(proto3("map<string, int32> a = 1;")), fill(field(1, Buffer.alloc(0)))],
    ["byte strings of one byte", twins(proto3("repeated bytes a = 1;")), fill(field(1, "x"))],
    ["empty messages of a few fields", twins(proto3("repeated N w = 1;", two)), fill(field(1, Buffer.alloc(0)))],
    [
      "empty messages with lists",
      twins(proto3("repeated N w = 1;", "message N { repeated int32 x = 1; }")),
      fill(field(1, Buffer.alloc(0))),
    ],
    ["a thousand fields backwards, hundreds of times", twins(wide), fill(field(1, joined(...[...thousand].reverse())))],
    ["pairs with a different key each", twins(proto3("map<string, int32> a = 1;")), keyed((i) => i.toString(36), 2 ** 20)],
    ["timestamps of nothing", twins(proto3("repeated google.protobuf.Timestamp a = 1;")), fill(field(1, Buffer.alloc(0)))],
    [
      "decimals of a thousand digits",
      twins(proto3("repeated confluent.type.Decimal a = 1;")),
      fill(field(1, field(1, Buffer.alloc(415, 85)))),
    ],
    ["JSON's objects of nothing", twins(proto3("repeated google.protobuf.Struct a = 1;")), fill(field(1, Buffer.alloc(0)))],
  ];
  for (const [name, readers, bytes] of refused) {
    test(`${name} are refused for their cost`, () => {
      expect(verdicts(readers, bytes)).toEqual(["limit-exceeded", "limit-exceeded"]);
    });
  }

  const taken: readonly (readonly [string, Twins, Buffer])[] = [
    ["messages of two small fields", twins(proto3("repeated N w = 1;", two)), fill(field(1, joined(field(1, 1), field(2, 1))))],
    ["a message whose thousand fields are all set, in reverse order", twins(everyWide), joined(...[...thousand].reverse())],
    ["fifty such messages", twins(wide), joined(...Array.from({ length: 50 }, () => field(1, joined(...thousand))))],
    ["four thousand maps of the same ten keys", twins(maps), Buffer.concat(new Array<Buffer>(4_000).fill(field(1, tenLabels)))],
    ["a map of twenty thousand keys", twins(proto3("map<string, int32> a = 1;")), keyed((i) => `customer-${i}`, 400_000)],
    ["a map of fifty thousand numbers", twins(proto3("map<int32, int32> a = 1;")), numbered(50_000)],
    ["timestamps of today", twins(proto3("repeated google.protobuf.Timestamp a = 1;")), fill(field(1, field(1, 1_767_225_600)))],
    [
      "decimals of a price",
      twins(proto3("repeated confluent.type.Decimal a = 1;")),
      fill(field(1, joined(field(1, hex("01 86 a0")), field(2, 10), field(3, 2)))),
    ],
    ["empty packed lists", twins(proto3("repeated int32 a = 1;")), fill(field(1, Buffer.alloc(0)))],
    ["fields that nobody knows", twins(schema), fill(field(99, 1))],
    ["one message in a hundred thousand parts", twins(schema), fill(field(7, field(1, 1))).subarray(0, 400_000)],
    ["empty texts", twins(proto3("repeated string a = 1;")), fill(field(1, ""))],
    ["one packed list", twins(proto3("repeated int64 a = 1;")), field(1, Buffer.alloc(mib, 1))],
    ["one packed list of bigints", twins(proto3("repeated int64 a = 1;")), field(1, fill(varint(2n ** 62n)))],
  ];
  for (const [name, readers, bytes] of taken) {
    test(`${name} are read`, () => {
      expect(verdicts(readers, bytes)).toEqual(["read", "read"]);
    });
  }

  test("joining nested parts stays within the cost budget", () => {
    const split = (depth: number): Buffer =>
      depth === 0 ? fill(field(1, 1)) : joined(field(12, split(depth - 1)), field(12, field(1, 2)));
    expect(valueOf(twins(schema), split(2))).toMatchObject({ self: { self: { a: 2 } } });
    expect(verdicts(twins(schema), split(20))).toEqual(["read", "read"]);
  });

  test("joining parts that must be read as one stays within the cost budget", () => {
    const list = (depth: number): Buffer => (depth === 0 ? fill(field(4, 1)) : joined(field(6, value(depth)), field(6, value(1))));
    const value = (depth: number): Buffer => field(1, list(depth - 1));
    const readers = twins(proto3("google.protobuf.Value a = 1;"));
    expect(verdicts(readers, field(1, list(1)))).toEqual(["read", "read"]);
    expect(verdicts(readers, field(1, list(20)))).toEqual(["limit-exceeded", "limit-exceeded"]);
  });

  test("the user can raise the cost limit, and the error says how", () => {
    const bytes = fill(field(1, Buffer.alloc(0)));
    const schemaOfTwo = proto3("repeated N w = 1;", two);
    const [reader] = twins(schemaOfTwo);
    expect(() => reader.read(bytes, 0, bytes.length)).toThrow(/at most 40 ns for each of its bytes.*raise limits\.maxCostPerByte/);
    expect(verdicts(twins(schemaOfTwo, { limits: { maxCostPerByte: 100 } }), bytes)).toEqual(["read", "read"]);
  });
});

test("a length alone allocates nothing: its bytes must be there", () => {
  expect(readBoth(twins(schema), joined(varint(5 * 8 + 2), varint(2 ** 40)))).toEqual({ code: "truncated" });
});
