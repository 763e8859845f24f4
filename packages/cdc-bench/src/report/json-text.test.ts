import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { toJsonText } from "./json-text.ts";

describe("JSON text of decoded values", () => {
  test.each([
    ["a bigint is a bare integer", 9223372036854775807n, "9223372036854775807"],
    ["bytes are named", Buffer.from([0xde, 0xad]), '{"$bytes":"3q0="}'],
    ["no bytes are bytes too", new Uint8Array(0), '{"$bytes":""}'],
    ["a window into a larger buffer is only the window", new Uint8Array([1, 2, 3, 4]).subarray(1, 3), '{"$bytes":"AgM="}'],
    ["an unavailable column is named", Symbol.for("cdckit.unavailable"), '{"$unavailable":true}'],
    ["NaN is text", Number.NaN, '"NaN"'],
    ["infinity is text", Number.NEGATIVE_INFINITY, '"-Infinity"'],
    ["minus zero keeps its sign", -0, "-0"],
    ["a Map is a list of pairs", new Map<unknown, unknown>([[1n, "a"]]), '[[1,"a"]]'],
    ["a date is its own text", new Date(0), '"1970-01-01T00:00:00.000Z"'],
    ["undefined is null", undefined, "null"],
    ["a hole in a list is null", [undefined, 1], "[null,1]"],
    ["an absent property is left out", { a: undefined, b: 1 }, '{"b":1}'],
    ["a lone surrogate is escaped", "\ud800", '"\\ud800"'],
    ["nesting is followed", { a: [{ b: new Map([["k", 1n]]) }] }, '{"a":[{"b":[["k",1]]}]}'],
  ])("%s", (_name, value, text) => {
    expect(toJsonText(value)).toBe(text);
  });

  test("columns with the names of Object's own members are plain data", () => {
    const row = Object.assign(Object.create(null), { constructor: "c", toJSON: "t" });
    Object.defineProperty(row, "__proto__", { value: "p", enumerable: true });
    expect(toJsonText(row)).toBe('{"constructor":"c","toJSON":"t","__proto__":"p"}');
  });

  test("is read back as it was by any JSON parser, if JSON can express it", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(toJsonText(value))).toEqual(value);
      }),
    );
  });
});
