import { describe, expect, test } from "vitest";
import { type GroupPosition, isBeyondEnd, lagOf, planOffsets } from "./offset-plan.ts";
import { parseOffsetTarget } from "./offset-target.ts";
import { offsetsJson, offsetsText } from "./offsets-report.ts";

describe("a target for a group's offsets", () => {
  test.each([
    ["earliest", { kind: "earliest" }],
    ["latest", { kind: "latest" }],
    ["0", { kind: "offset", offset: 0n }],
    ["9007199254740993", { kind: "offset", offset: 9_007_199_254_740_993n }],
    ["1970-01-01T00:00:05Z", { kind: "time", timestampMs: 5_000 }],
    ["2h", { kind: "time", timestampMs: 10_000_000 - 7_200_000 }],
  ] as const)("%s is read", (text, target) => {
    expect(parseOffsetTarget(text, () => 10_000_000)).toEqual(target);
  });

  test.each(["", "-1", "1.5", "2 hours", "yesterday", "2026-13-45", "0x10"])("%j is refused", (text) => {
    expect(() => parseOffsetTarget(text)).toThrow("earliest, latest, an offset");
  });
});

describe("the plan of a reset", () => {
  const position: GroupPosition = { topic: "t", partition: 0, startOffset: 10n, stableOffset: 50n, endOffset: 50n, committed: 30n };
  const never = (): bigint => {
    throw new Error("no time was asked for");
  };

  test.each([
    ["earliest", { kind: "earliest" }, 10n],
    ["latest", { kind: "latest" }, 50n],
    ["the first offset", { kind: "offset", offset: 10n }, 10n],
    ["the end", { kind: "offset", offset: 50n }, 50n],
  ] as const)("%s is a place in the log", (_, target, next) => {
    expect(planOffsets([position], target, never)).toEqual([{ ...position, next }]);
  });

  test.each([9n, 51n])("refuses offset %s, which the log does not have", (offset) => {
    expect(() => planOffsets([position], { kind: "offset", offset }, never)).toThrow("its log goes from 10 to 50");
  });

  test("takes the offset of a time from the brokers", () => {
    expect(planOffsets([position], { kind: "time", timestampMs: 1 }, () => 44n)).toEqual([{ ...position, next: 44n }]);
  });

  test("counts lag from the start of the log if retention has overtaken the commit", () => {
    expect(lagOf(position)).toBe(20n);
    expect(lagOf({ ...position, committed: 3n })).toBe(40n);
    expect(lagOf({ ...position, committed: null })).toBeNull();
  });

  test("names a commit beyond the end of the log, which has no lag", () => {
    const beyond = { ...position, committed: 70n };
    expect([lagOf(beyond), isBeyondEnd(beyond), isBeyondEnd({ ...position, committed: 50n })]).toEqual([0n, true, false]);
    const report = { groupId: "g", members: [], positions: [position, { ...beyond, partition: 1 }], heldBack: [], reset: null };
    expect(offsetsText(report)).toContain("\nt[1]: the group has committed 70, and the log ends at 50. ");
    expect(offsetsText(report)).not.toContain("t[0]:");
    expect(offsetsJson(report)).toMatchObject({
      partitions: [
        { lag: 20n, beyondEnd: false },
        { lag: 0n, beyondEnd: true },
      ],
    });
    const reset = { planned: planOffsets([beyond], { kind: "offset", offset: 40n }, never), executed: false };
    expect(offsetsText({ ...report, positions: [beyond], reset })).toMatch(/ 40 +10 to read\n/);
  });

  test("names the records that are gone between the commit and the start of the log", () => {
    const behind = { ...position, committed: 3n };
    const report = { groupId: "g", members: [], positions: [position, behind], heldBack: [], reset: null };
    expect(offsetsText(report)).toContain("\nt[0]: the records from 3 to 9 are gone, and the group has not handled them:\n");
    expect(offsetsText({ ...report, positions: [position] })).not.toContain("gone");
    expect(offsetsJson(report)).toMatchObject({ partitions: [{ lost: 0n }, { lost: 7n, lag: 40n, beyondEnd: false }] });
    const changeTo = (offset: bigint): string => {
      const planned = planOffsets([behind], { kind: "offset", offset }, never);
      return offsetsText({ ...report, reset: { planned, executed: false } });
    };
    expect(changeTo(10n)).toMatch(/ 10 +7 gone\n/);
    expect(changeTo(40n)).toMatch(/ 40 +30 skipped, 7 gone\n/);
  });

  test("a commit behind an open transaction is none beyond the end of the log", () => {
    const open = { ...position, stableOffset: 20n };
    expect([isBeyondEnd(open), lagOf(open), lagOf({ ...open, committed: 20n })]).toEqual([false, 20n, 30n]);
    expect(planOffsets([open], { kind: "latest" }, never)).toEqual([{ ...open, next: 20n }]);
    expect(planOffsets([open], { kind: "offset", offset: 40n }, never)).toEqual([{ ...open, next: 40n }]);
    const report = { groupId: "g", members: [], positions: [open], heldBack: [{ topic: "t", offsets: 30n, partitions: [0] }], reset: null };
    expect(offsetsText(report)).toMatch(/ 50 +30 +20\n\nt: an open transaction holds back 30 offsets of partition 0: /);
    expect(offsetsJson(report)).toMatchObject({ heldBack: [{ topic: "t", offsets: 30n, partitions: [0] }] });
  });
});
