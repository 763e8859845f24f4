import { expect, test } from "vitest";
import { RepeatedLines } from "./repeated-lines.ts";

function setUp() {
  let nowMs = 0;
  const lines = new RepeatedLines(() => nowMs);
  const at = (second: number, line: string): number | null => {
    nowMs = second * 1_000;
    return lines.leftOutBefore(line);
  };
  return at;
}

test("a line that comes each second is logged with growing gaps, up to a minute, and counts those in between", () => {
  const at = setUp();
  const logged = Array.from({ length: 201 }, (_, second) => at(second, "no broker")).filter((leftOut) => leftOut !== null);
  expect(logged).toEqual([0, 4, 9, 19, 39, 59, 59]);
});

test("a line that has not come for two minutes is new again", () => {
  const at = setUp();
  expect([at(0, "a"), at(5, "a"), at(126, "a"), at(131, "a")]).toEqual([0, 0, 0, 0]);
});

test("a hundred lines are remembered: more of them, as with a number that changes each time, take no more memory", () => {
  const at = setUp();
  const first = Array.from({ length: 100 }, (_, number) => at(0, `line ${number}`));
  expect(first.every((leftOut) => leftOut === 0)).toBe(true);
  expect([at(1, "line 0"), at(1, "another"), at(1, "line 1"), at(1, "line 0")]).toEqual([null, 0, null, 0]);
});
