/**
 * Loaded before each test file: one seed for every property test of a run, so that a run can be repeated by its closing lines
 * (`FAST_CHECK_SEED=... npm test`). `FAST_CHECK_NUM_RUNS` makes a longer run, also of
 * properties that say how often they run: see `property-runs.ts`.
 */
const seed = process.env["FAST_CHECK_SEED"];
const numRuns = process.env["FAST_CHECK_NUM_RUNS"];

if (seed !== undefined || numRuns !== undefined) {
  const { configureGlobal } = await import("fast-check");
  configureGlobal({
    ...(seed === undefined ? {} : { seed: Number(seed) }),
    ...(numRuns === undefined ? {} : { numRuns: Number(numRuns) }),
  });
}

export {};
