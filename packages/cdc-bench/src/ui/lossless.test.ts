import { expect, test } from "vitest";
// What the browser loads, as it is.
import { parseLossless, valueText } from "../../ui/lossless.js";

test.each([
  ["9007199254740993", "9007199254740993"],
  ["-170141183460469231731687303715884105727", "-170141183460469231731687303715884105727"],
  ['{"id":9007199254740993,"n":12}', '{"id": 9007199254740993, "n": 12}'],
  ['{"text":"9007199254740993 \\" 9007199254740993"}', '{"text": "9007199254740993 \\" 9007199254740993"}'],
  ['"a text"', "a text"],
  ["1.2345678901234567e+300", "1.2345678901234567e+300"],
  ['[null,true,{"$bytes":"AA=="}]', '[null, true, {"$bytes": "AA=="}]'],
  ['{"__proto__":{"a":1},"$integer":5}', '{"__proto__": {"a": 1}, "$integer": 5}'],
])("%s is shown digit by digit", (json, shown) => {
  expect(valueText(parseLossless(json))).toBe(shown);
});
