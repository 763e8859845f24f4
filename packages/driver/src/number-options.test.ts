import { expect, test } from "vitest";
import { DriverError, type MakeDriverError } from "./errors.ts";
import { maxInt32, numberOptions, optionalNumber } from "./number-options.ts";

const makeError: MakeDriverError = (code, detail, options) => new DriverError(code, detail, options);
const defaults = { maxWaitMs: 500, maxBytes: 1_000 };

test("the numbers are all there, and the rest is as it was", () => {
  const brokers = ["b:9092"];
  const { numbers, others } = numberOptions({ brokers, maxWaitMs: 7, maxBytes: undefined, clientId: undefined }, defaults, makeError);
  expect(numbers).toEqual({ maxWaitMs: 7, maxBytes: 1_000 });
  expect(others).toStrictEqual({ brokers, clientId: undefined });
  expect(defaults).toEqual({ maxWaitMs: 500, maxBytes: 1_000 });
});

test.each<[unknown, string]>([
  [0, "found 0"],
  [1.5, "found 1.5"],
  [Number.NaN, "found NaN"],
  ["7", "found 7"],
  [null, "found null"],
  [maxInt32 + 1, "at most 2147483647, found 2147483648"],
])("%s is no number that can be set", (maxWaitMs, found) => {
  const take = (): unknown => numberOptions({ maxWaitMs }, defaults, makeError);
  expect(take).toThrow("[invalid-option] expected maxWaitMs to be a positive integer");
  expect(take).toThrow(found);
});

test("a number has a maximum of its own if one is given", () => {
  expect(() => numberOptions({ maxBytes: 2_001 }, defaults, makeError, { maxBytes: 2_000 })).toThrow(
    "maxBytes to be a positive integer, at most 2000",
  );
  expect(numberOptions({ maxBytes: 2_000 }, defaults, makeError, { maxBytes: 2_000 }).numbers.maxBytes).toBe(2_000);
});

test("what every object has is no number of the defaults", () => {
  const options = { constructor: 1, toString: 2 };
  expect(numberOptions(options, defaults, makeError)).toEqual({ numbers: defaults, others: options });
});

test("a number without a default is a member if it was given", () => {
  expect(optionalNumber("maxBytes", undefined, 9, makeError)).toStrictEqual({});
  expect(optionalNumber("maxBytes", 9, 9, makeError)).toStrictEqual({ maxBytes: 9 });
  expect(() => optionalNumber("maxBytes", 10, 9, makeError)).toThrow(
    "[invalid-option] expected maxBytes to be a positive integer, at most 9, found 10",
  );
});
