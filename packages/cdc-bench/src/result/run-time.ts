import { performance } from "node:perf_hooks";
import type { BenchResult } from "./bench-result.ts";

/** When a run began, and how long it has taken so far. */
export type RunTime = Pick<BenchResult, "startedAt" | "elapsedMs">;

/**
 * Starts the time of a run; each call of what it returns gives the time until then. The difference of two dates would be wrong, and may be negative,
 * if the machine's clock is set during the run.
 */
export function startRunTime(): () => RunTime {
  const startedAt = new Date().toISOString();
  const startMs = performance.now();
  return () => ({ startedAt, elapsedMs: performance.now() - startMs });
}
