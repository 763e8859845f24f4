import { afterEach, expect, test } from "vitest";
import { hideNegativeTimeouts } from "./negative-timeouts.ts";

const original = process.emitWarning;

afterEach(() => {
  process.emitWarning = original;
});

test("only the warning of a timer in the past is kept away", () => {
  const seen: unknown[][] = [];
  process.emitWarning = (...args: unknown[]): void => void seen.push(args);
  hideNegativeTimeouts();
  process.emitWarning("-5 is a negative number.", "TimeoutNegativeWarning");
  process.emitWarning("old", "DeprecationWarning", "DEP0001");
  process.emitWarning(new Error("plain"));
  expect(seen).toEqual([["old", "DeprecationWarning", "DEP0001"], [new Error("plain")]]);
});
