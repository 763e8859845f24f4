import { recordOf } from "@cdckit/testkit";
import { describe, expect, test } from "vitest";
import { createDecoder } from "../../decoder.ts";
import { isDecodeError } from "../../errors.ts";
import type { ValueOptions } from "../../options.ts";

/**
 * The column of a row with its Connect schema, decoded three times: learned, then read in place, then by the fast path; or the code of the
 * error.
 */
function columns(type: string, text: string, values: ValueOptions = {}, isSpaced = false): readonly unknown[] {
  const schema = `{"type":"struct","optional":false,"fields":[{"type":"${type}","optional":true,"field":"c"},{"type":"string","optional":true,"field":"d"}]}`;
  const payload = isSpaced ? `{ "c": ${text}, "d": null }` : `{"c":${text},"d":null}`;
  const value = Buffer.from(`{"schema":${schema},"payload":${payload}}`);
  const decoder = createDecoder({ values });
  return [0n, 1n, 2n].map((offset) => {
    try {
      const events = decoder.decode(recordOf(value, { offset }));
      const [event] = events instanceof Promise ? [] : events;
      return event?.kind === "row" ? event.row["c"] : event;
    } catch (error) {
      return isDecodeError(error) ? [error.code, error.at?.offset === offset] : error;
    }
  });
}

const beyond: readonly (readonly [string, readonly string[]])[] = [
  ["int8", ["128", "-129", "300", "1e3"]],
  ["int16", ["32768", "-32769", "70000"]],
  ["int32", ["2147483648", "-2147483649", "9223372036854775807"]],
  ["int64", ["9223372036854775808", "-9223372036854775809", "1e19"]],
  ["float", ["1e39", "-1e39", "3.5e38"]],
  ["double", ["1e400", "-1e400"]],
];

const within: readonly (readonly [string, readonly (readonly [string, unknown])[]])[] = [
  ["int8", [["127", 127], ["-128", -128], ["-0", 0]]],
  ["int16", [["32767", 32_767], ["-32768", -32_768]]],
  ["int32", [["2147483647", 2_147_483_647], ["-2147483648", -2_147_483_648], ["1e3", 1_000]]],
  ["int64", [["9223372036854775807", 9_223_372_036_854_775_807n], ["-9223372036854775808", -9_223_372_036_854_775_808n]]],
  ["float", [["3.4028234e38", Math.fround(3.4028234e38)], ["1e-50", 0], ['"Infinity"', Number.POSITIVE_INFINITY]]],
  ["double", [["1e39", 1e39]]],
]; // biome-ignore format: one line per type

describe("a number out of the range of its column's type is an error", () => {
  for (const [type, texts] of beyond) {
    for (const text of texts) {
      for (const isSpaced of [false, true]) {
        test(`${type} ${text}${isSpaced ? ", in another spelling" : ""}`, () => {
          const expected = [
            ["value-invalid", true],
            ["value-invalid", true],
            ["value-invalid", true],
          ];
          expect(columns(type, text, {}, isSpaced)).toEqual(expected);
          expect(columns(type, text, { int64: "bigint" }, isSpaced)).toEqual(expected);
        });
      }
    }
  }
});

describe("a number at the end of the range of its column's type is read", () => {
  for (const [type, cases] of within) {
    for (const [text, value] of cases) {
      test(`${type} ${text}`, () => {
        expect(columns(type, text)).toEqual([value, value, value]);
        expect(columns(type, text, {}, true)).toEqual([value, value, value]);
      });
    }
  }
});
