import { describe, expect, test } from "vitest";
import { isDecodeError } from "../../errors.ts";
import { resolveLimits, resolveValueOptions, type ValueOptions } from "../../options.ts";
import { readEverything } from "../reader.ts";
import type { Field, RecordType, Type } from "../type.ts";
import { JsonReader } from "./reader.ts";

const values = (type: Type, text: string, options: ValueOptions = {}): unknown[] => {
  const bytes = Buffer.from(text);
  return [true, false].map((codeGeneration) => {
    const compile = { values: resolveValueOptions(options), limits: resolveLimits(), plan: readEverything, codeGeneration };
    return new JsonReader("json", type, compile).read(bytes, 0, bytes.length);
  });
};

const codes = (type: Type, text: string): unknown[] => {
  try {
    return values(type, text);
  } catch (error) {
    return [isDecodeError(error) ? error.code : error];
  }
};

const record = (name: string, fields: readonly Field[]): RecordType => ({ kind: "record", name, fields });

describe("maps whose keys are not text", () => {
  const type: Type = { kind: "map", keys: { kind: "int" }, values: { kind: "string" } };

  test("are read from pairs, and from objects of key and value", () => {
    for (const text of ['[[1,"a"],[2,"b"]]', '[{"key":1,"value":"a"},{"key":2,"value":"b"}]']) {
      expect(values(type, text)).toEqual([
        new Map([
          [1, "a"],
          [2, "b"],
        ]),
        new Map([
          [1, "a"],
          [2, "b"],
        ]),
      ]);
    }
  });

  test("are refused if a key or a value is missing", () => {
    for (const text of ["[[1]]", '[{"key":1}]', '[{"value":"a"}]', "[1]", "{}"]) {
      expect(codes(type, text)).toEqual(["value-invalid"]);
    }
  });
});

describe("integers that are written with a point or an exponent", () => {
  const type = record("R", [{ name: "n", type: { kind: "long" } }]);

  test.each<[string, unknown]>([
    ["1.0", 1],
    ["-0.0", 0],
    ["1e3", 1_000],
    ["120e-1", 12],
    ["9007199254740991.0", 9_007_199_254_740_991],
    ["9007199254740993.0", 9_007_199_254_740_993n],
    ["0e5", 0],
    ["-1.50e1", -15],
    ["1.000000000000000000000", 1],
    ["1E+20", 100_000_000_000_000_000_000n],
  ])("%s is exact", (text, value) => {
    expect(values(type, `{"n":${text}}`)).toEqual([{ n: value }, { n: value }]);
  });

  test.each(["1.5", "1e-1", "1e-400", "1e41", "1e400000", "1e999999999"])("%s is refused", (text) => {
    expect(codes(type, `{"n":${text}}`)).toEqual(["value-invalid"]);
  });

  test("are converted by their semantics", () => {
    const date: Type = { kind: "int", semantic: { name: "io.debezium.time.Date", parameters: {} } };
    expect(values(record("R", [{ name: "n", type: date }]), '{"n":1.0}')).toEqual([{ n: "1970-01-02" }, { n: "1970-01-02" }]);
  });
});

describe("records that contain themselves", () => {
  const fields: Field[] = [{ name: "day", type: { kind: "int", semantic: { name: "io.debezium.time.Date", parameters: {} } } }];
  const node = record("Node", fields);
  fields.push({ name: "next", type: { kind: "union", branches: [{ kind: "null" }, node] } });

  test("are typed at every depth", () => {
    const value = { day: "1970-01-02", next: { day: "1970-01-03", next: { day: "1970-01-04", next: null } } };
    expect(values(node, '{"day":1,"next":{"day":2,"next":{"day":3,"next":null}}}')).toEqual([value, value]);
  });

  test("are refused beyond the depth limit", () => {
    expect(codes(node, `${'{"day":1,"next":'.repeat(50_000)}null${"}".repeat(50_000)}`)).toEqual(["limit-exceeded"]);
  });

  test("may be a struct that becomes one value, which is read to its end", () => {
    const parts: Field[] = [{ name: "wkb", type: { kind: "bytes" } }];
    const point: RecordType = { ...record("P", parts), semantic: { name: "io.debezium.data.geometry.Geometry", parameters: {} } };
    parts.push({ name: "srid", type: point });
    expect(codes(point, '{"wkb":"AA==","srid":null}')).toHaveLength(2);
  });

  test("compile at once, even if each contains the next one many times", () => {
    const levels = Array.from({ length: 60 }, (_, i) => ({ type: record(`R${i}`, []) }));
    for (const [i, { type }] of levels.entries()) {
      const next = levels[i + 1]?.type ?? ({ kind: "int" } satisfies Type);
      (type.fields as Field[]).push({ name: "a", type: next }, { name: "b", type: next });
    }
    expect(codes((levels[0] as { type: RecordType }).type, '{"a":{"b":{}},"b":{}}')).toEqual([
      { a: { b: {} }, b: {} },
      { a: { b: {} }, b: {} },
    ]);
  });
});

test("a number of any size is exact if its type allows integers and fractions", () => {
  const type = record("R", [{ name: "n", type: { kind: "union", branches: [{ kind: "long" }, { kind: "double" }] } }]);
  for (const [text, value] of [
    ["9007199254740993", 9_007_199_254_740_993n],
    ["1.5", 1.5],
    ["7", 7],
  ] as const) {
    expect(values(type, `{"n":${text}}`)).toEqual([{ n: value }, { n: value }]);
  }
  expect(values(type, '{"n":1.50}', { numbers: "exact" })).toEqual([{ n: "1.50" }, { n: "1.50" }]);
});

test("an object with few of many columns has them in their order, followed by properties without a column", () => {
  const type = record(
    "R",
    Array.from({ length: 100 }, (_, i) => ({ name: `c${i}`, type: { kind: "int" } as const })),
  );
  for (const value of values(type, '{"c7":7,"x":1,"c3":3,"c99":99}')) {
    expect(Object.entries(value as object)).toEqual([
      ["c3", 3],
      ["c7", 7],
      ["c99", 99],
      ["x", 1],
    ]);
  }
});
