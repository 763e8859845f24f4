import { describe, expect, test } from "vitest";
import { resolveValueOptions } from "../options.ts";
import type { Conversion } from "./conversion.ts";
import { conversionFor } from "./conversion-for.ts";

function find(name: string): Conversion | null {
  return conversionFor({ name: `io.debezium.data.${name}`, parameters: {} }, resolveValueOptions({ int64: "bigint" }), JSON.parse);
}

describe("a vector", () => {
  test("is an array of numbers, with integers too, for any form of int64 columns", () => {
    expect(find("DoubleVector")?.array?.([0.1, 2n, -3])).toEqual([0.1, 2, -3]);
    expect(find("FloatVector")?.array?.([0.1, 2n])).toEqual([Math.fround(0.1), 2]);
  });

  test("that is sparse is its dimensions and a map, for each form of the map", () => {
    const expected = {
      dimensions: 25,
      vector: new Map([
        [1, 0.5],
        [24, -2],
      ]),
    };
    const forms: unknown[] = [
      new Map<unknown, unknown>([
        [1, 0.5],
        [24n, -2],
      ]),
      [
        [1, 0.5],
        [24, -2],
      ],
      [
        { key: 1, value: 0.5 },
        { key: 24, value: -2 },
      ],
    ];
    for (const vector of forms) {
      expect(find("SparseDoubleVector")?.struct?.({ dimensions: 25, vector })).toEqual(expected);
    }
  });

  test("of other values is refused, and the error does not quote them", () => {
    const refused = /^\[value-invalid\](?!.*secret)/;
    expect(() => find("DoubleVector")?.array?.([1, "secret"])).toThrow(refused);
    for (const vector of ["secret", null, [["secret", 1]], [[1]], [null]]) {
      expect(() => find("SparseDoubleVector")?.struct?.({ dimensions: 1, vector })).toThrow(refused);
    }
  });
});

describe("a line", () => {
  test("is its three coefficients", () => {
    expect(find("geometry.Line")?.struct?.({ a: 1, b: -1, c: 0.5 })).toEqual({ a: 1, b: -1, c: 0.5 });
  });
});
