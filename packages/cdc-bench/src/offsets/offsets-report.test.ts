import { expect, test } from "vitest";
import { planOffsets } from "./offset-plan.ts";
import type { OffsetTarget } from "./offset-target.ts";
import { offsetsText } from "./offsets-report.ts";

/** What a reset says of a partition whose log has the offsets 1,000 to 1,009. */
function changeOf(committed: bigint | null, target: OffsetTarget): string {
  const position = { topic: "t", partition: 0, startOffset: 1_000n, stableOffset: 1_010n, endOffset: 1_010n, committed };
  const planned = planOffsets([position], target, () => 1_004n);
  const text = offsetsText({ groupId: "g", members: [], positions: [position], heldBack: [], reset: { planned, executed: false } });
  return /^t .* {2}(\S.*)$/m.exec(text)?.[1] ?? text;
}

const earliest: OffsetTarget = { kind: "earliest" };
const latest: OffsetTarget = { kind: "latest" };

test.each([
  [1_005n, earliest, "5 again"],
  [1_005n, latest, "5 skipped"],
  [1_010n, latest, "nothing"],
  [null, earliest, "10 to read"],
  [2_000n, earliest, "10 to read"],
] as const)("a group that has committed %s and goes to %j has %s", (committed, target, change) => {
  expect(changeOf(committed, target)).toBe(change);
});

test.each([
  [earliest, "900 gone"],
  [{ kind: "time", timestampMs: 0 }, "4 skipped, 900 gone"],
  [latest, "10 skipped, 900 gone"],
] as const)("what retention took behind a commit is not skipped by going to %j", (target, change) => {
  expect(changeOf(100n, target)).toBe(change);
});
