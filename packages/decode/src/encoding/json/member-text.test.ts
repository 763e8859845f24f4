import fc from "fast-check";
import { expect, test } from "vitest";
import { memberText } from "./member-text.ts";

function textOf(json: string, name: string): string | null {
  const bytes = Buffer.from(`xx${json}}`); // what stands around the text is not read
  const found = memberText(bytes, 2, bytes.length - 1, name);
  return found === null ? null : Buffer.from(found).toString();
}

test.each([
  ['{"a":1}', "1"],
  ['\ufeff \n{ "b" : {"a":2} , "a" :\t{"x":[1.50,"}"],"y":"\\"]"}\r\n}', '{"x":[1.50,"}"],"y":"\\"]"}'],
  ['{"a":1,"b":2,"a":12345678901234567.89}', "12345678901234567.89"],
  ['{"\\u0061":"\u00e9\\\\"}', '"\u00e9\\\\"'],
  ['{"a":[{},[]],"b":null}', "[{},[]]"],
  ['{"b":{"a":1}}', null],
  ["{}", null],
  ['["a"]', null],
  ['"a"', null],
])("%s", (json, text) => {
  expect(textOf(json, "a")).toBe(text);
});

test("the text of each member is what the parser makes of it, however it is spaced", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom(undefined, 1, "\t"), (object, space) => {
      const json = JSON.stringify(object, null, space);
      for (const [name, value] of Object.entries(JSON.parse(json) as object)) {
        expect(JSON.parse(textOf(json, name) ?? "no member")).toEqual(value);
      }
    }),
  );
});
