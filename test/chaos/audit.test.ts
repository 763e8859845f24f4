import { describe, expect, test } from "vitest";
import { type Disturbance, type Handled, hearingMs, judge, parseAudit, uncovered } from "./audit.ts";

const lineMs = 100;
const produced = Array.from({ length: 400 }, (_, i) => ({ partition: 0, offset: BigInt(i), key: String(i % 4), atMs: 0 }));
const kill = (line: number, committed: bigint): Disturbance => ({
  what: "kill",
  line,
  sinceMs: line * lineMs,
  untilMs: line * lineMs,
  committed: new Map([[0, committed]]),
});

function violationsOf(handled: readonly Handled[], ...disturbances: Disturbance[]): readonly string[] {
  const timed = handled.map((record, line) => ({ ...record, atMs: line * lineMs }));
  return judge(produced, timed, disturbances).violations;
}

describe("the oracle", () => {
  test("accepts what was handled once, in order", () => {
    expect(violationsOf(produced)).toEqual([]);
  });

  test("accepts what came again behind what a kill had left committed", () => {
    expect(violationsOf([...produced.slice(0, 300), ...produced.slice(250)], kill(300, 250n))).toEqual([]);
  });

  // Each is a bug that a consumer could have.
  test.each<[string, readonly Handled[], readonly Disturbance[], RegExp]>([
    ["a record that is lost", produced.filter(({ offset }) => offset !== 77n), [], /0:77 was never handled/],
    [
      "a lost record that a duplicate makes up for in number",
      [...produced.slice(0, 300), ...produced.slice(299, 300), ...produced.slice(301)],
      [kill(300, 299n)],
      /0:300 was never handled/,
    ],
    ["the last record of a batch that is dropped", produced.slice(0, -1), [], /0:399 was never handled/],
    ["two events of a key that are swapped", swapped(produced, 100, 104), [], /handled first after 104/],
    ["a record that came again without a reason", [...produced, ...produced.slice(399)], [], /handled again/],
    [
      "a record that came again although it was committed",
      [...produced.slice(0, 300), ...produced.slice(200)],
      [kill(300, 250n)],
      /0:200 was handled again/,
    ],
    [
      "records that come again long after the last thing that happened",
      [...produced.slice(0, 300), ...produced.slice(250)],
      [kill(300 - hearingMs / lineMs - 8, 150n)],
      /key 2: 0:250 came after 298, and nothing had happened/,
    ],
    ["a record that nobody wrote", [...produced, { partition: 1, offset: 0n, key: "x", atMs: 0 }], [], /1:0 was handled and never written/],
  ])("sees %s", (_name, handled, disturbances, message) => {
    expect(violationsOf(handled, ...disturbances).join("\n")).toMatch(message);
  });

  test("sees a commit above a record that is not handled", () => {
    const handled = new Set(["0:0", "0:2"]);
    expect(uncovered(new Map([[0, 1n]]), handled)).toEqual([]);
    expect(uncovered(new Map([[0, 3n]]), handled)).toEqual(["0 is committed to 3, and 1 is not handled"]);
  });

  test("leaves a line that was not written to its end", () => {
    expect(parseAudit("0 1 a 17\n0 2 b 18\n0 3")).toEqual([
      { partition: 0, offset: 1n, key: "a", atMs: 17 },
      { partition: 0, offset: 2n, key: "b", atMs: 18 },
    ]);
  });
});

function swapped(records: readonly Handled[], a: number, b: number): readonly Handled[] {
  const copy = [...records];
  [copy[a], copy[b]] = [copy[b] as Handled, copy[a] as Handled];
  return copy;
}
