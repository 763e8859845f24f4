import fc, { assert as namedAssert } from "fast-check";
import { expect, test } from "vitest";
import { runsOf } from "./property-runs.ts";

test.each([
  [200, undefined, 200],
  [200, "100", 200],
  [200, "1000", 2_000],
  [30, "50", 15],
  [1, "10", 1],
] as const)("a property of %j runs is run with FAST_CHECK_NUM_RUNS=%j %j times", (own, wanted, runs) => {
  expect(runsOf(own, wanted)).toBe(runs);
});

test.each([
  ["fc.assert", fc.assert],
  ["assert", namedAssert],
] as const)("%s of tests runs a property as often as the environment wants", (_, assert) => {
  let runs = 0;
  assert(
    fc.property(fc.integer(), () => void runs++),
    { numRuns: 20 },
  );
  expect(runs).toBe(runsOf(20, process.env["FAST_CHECK_NUM_RUNS"]));
});
