import { expect, test } from "vitest";
import { bytesOfGoQuoted } from "./go-quoted.ts";

/** The output of Go's `strconv.Quote`, as its documentation describes it. */
test.each([
  ["plain ☺ text", Buffer.from("plain ☺ text")],
  ["", Buffer.alloc(0)],
  ["\\x89PNG\\r\\n\\x1a\\n", Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10])],
  ["a\\\\b\\\"\\'", Buffer.from("a\\b\"'")],
  ["\\u263a\\U0001f600", Buffer.from("☺😀")],
  ["\\a\\b\\f\\t\\v", Buffer.from([7, 8, 12, 9, 11])],
])("%s is read back", (quoted, bytes) => {
  expect(bytesOfGoQuoted(quoted)).toEqual(bytes);
});

test.each(["\\", "\\x1", "\\xzz", "\\q", "\\U00110000", "\\u12"])("%s is not a quoted text", (quoted) => {
  expect(bytesOfGoQuoted(quoted)).toBeNull();
});
