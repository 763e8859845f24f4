import { UNAVAILABLE } from "@cdckit/decode";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { toJsonText } from "../report/json-text.ts";
import { createMask, noMask } from "./mask.ts";

const row = {
  id: 17n,
  email: "a@b.example",
  photo: Buffer.from("secret"),
  empty: null,
  large: UNAVAILABLE,
  address: { city: "Bern", email: "c@d.example" },
  tags: ["x", { email: "e@f.example" }],
  pairs: new Map([["email", "g@h.example"]]),
  at: new Date(0),
};

describe("a mask for columns", () => {
  const mask = createMask({ columns: ["email", "empty"], isEverything: false });

  test("hides them at every depth, and nothing else", () => {
    const text = toJsonText(mask.value(row));
    expect(text).not.toContain("example");
    expect(text).toContain('"email":"***"');
    expect(text).toContain('"city":"Bern"');
    expect(text).toContain('"at":"1970-01-01T00:00:00.000Z"');
    expect(text).toContain('"empty":null');
    expect(row.email).toBe("a@b.example");
  });

  test("hides them in keys that headers carry as JSON, and in what may quote a row", () => {
    expect(mask.header("__debezium.newkey", '{"id":1,"email":"a@b.example"}')).toBe('{"id":1,"email":"***"}');
    expect(mask.header("email", "a@b.example")).toBe("***");
    expect(mask.header("__connect.errors.exception.message", "a@b.example is taken")).toBe("***");
    expect(mask.header("kafka_dlt-exception-stacktrace", "a@b.example is taken")).toBe("***");
    expect(mask.header("trace", "{no JSON")).toBe("{no JSON");
    expect(mask.quote("a@b.example is taken")).toBe("***");
  });

  test("hides them in a key or a value without columns: in its JSON, and in bytes, which may hold any column", () => {
    expect(mask.bare('{"id":1,"email":"a@b.example"}')).toBe('{"id":1,"email":"***"}');
    expect(mask.bare(Buffer.from([255, 1]))).toBe("***");
    expect(mask.bare("order 17")).toBe("order 17");
    expect(mask.bare({ id: 1, email: "a@b.example", photo: Buffer.from("x") })).toEqual({ id: 1, email: "***", photo: Buffer.from("x") });
    expect(mask.bare(null)).toBe(null);
  });

  test.each([
    ['{"id":9007199254740993}', '{"id":9007199254740993}'],
    ['{"id":9007199254740993,"email":"a@b.example","total":1.10}', '{"id":9007199254740993,"email":"***","total":1.10}'],
    [' [ {"email" : {"of":["a@b.example",{"x":1}]} , "id":1e400} ]\n', ' [ {"email" : "***" , "id":1e400} ]\n'],
    ['{"e\\u006dail":"a@b.example","a":"\\"email\\":1"}', '{"e\\u006dail":"***","a":"\\"email\\":1"}'],
    ['{"email":null,"nested":{"email":12},"email":[]}', '{"email":null,"nested":{"email":"***"},"email":"***"}'],
    ['["email",{"x":"email"},"a,b:{c}"]', '["email",{"x":"email"},"a,b:{c}"]'],
    ['{"email":-1.5e3}', '{"email":"***"}'],
    ["[]", "[]"],
  ])("leaves all else in a header as it was written: %s", (text, shown) => {
    expect(mask.header("__debezium.newkey", text)).toBe(shown);
  });
});

test("a header of JSON is masked as its value is", () => {
  const mask = createMask({ columns: ["a", ""], isEverything: false });
  const name = fc.constantFrom("a", "b", "", '"a":', "c\\");
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null)),
      fc.array(tie("value"), { maxLength: 4 }),
      fc.dictionary(name, tie("value"), { maxKeys: 4 }),
    ),
  }));
  fc.assert(
    fc.property(fc.oneof(fc.array(value), fc.dictionary(name, value)), fc.constantFrom(0, 2), (json, indent) => {
      const shown = mask.header("any", JSON.stringify(json, null, indent));
      expect(JSON.stringify(JSON.parse(shown))).toBe(JSON.stringify(mask.value(json)));
    }),
  );
});

test("a mask for everything leaves names, nulls and what was unavailable", () => {
  const mask = createMask({ columns: [], isEverything: true });
  expect(toJsonText(mask.value(row))).toBe(
    '{"id":"***","email":"***","photo":"***","empty":null,"large":{"$unavailable":true},"address":{"city":"***","email":"***"},' +
      '"tags":["***",{"email":"***"}],"pairs":[["email","***"]],"at":"***"}',
  );
  expect([mask.value("text"), mask.header("trace", "1"), mask.quote("x")]).toEqual(["***", "***", "***"]);
});

test("a column called __proto__ is masked like any other", () => {
  const mask = createMask({ columns: ["__proto__"], isEverything: false });
  expect(toJsonText(mask.value(JSON.parse('{"__proto__":"secret"}')))).toBe('{"__proto__":"***"}');
});

test("without names nothing is masked", () => {
  expect(createMask({ columns: [], isEverything: false })).toBe(noMask);
  expect(noMask.value(row)).toBe(row);
});
