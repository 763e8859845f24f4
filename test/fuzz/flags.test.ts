import { describe, expect, test } from "vitest";
import { numberOf } from "./flags.ts";

describe("a number of a flag of the fuzz campaign", () => {
  test("is read", () => {
    expect(numberOf("messages", "3000", 1)).toBe(3_000);
    expect(numberOf("minutes", "0.5", 0.001)).toBe(0.5);
    expect(numberOf("from", "0", 0)).toBe(0);
  });

  test.each(["abc", "", " ", "0", "-1", "Infinity", "NaN"])(
    "is refused if it is %j: no message would be tried, or the end never come",
    (text) => {
      expect(() => numberOf("messages", text, 1)).toThrow(`--messages must be a number of at least 1, got "${text}"`);
    },
  );
});
