import { performance } from "node:perf_hooks";

/** Rates of several rounds; the median stands for them, and the others say how far to trust it. */
export interface RateSummary {
  readonly median: number;
  readonly min: number;
  readonly max: number;
  readonly rounds: readonly number[];
}

export function summarizeRates(rounds: readonly number[]): RateSummary {
  return { median: medianOf(rounds), min: Math.min(...rounds), max: Math.max(...rounds), rounds };
}

/** The middle value; the mean of the two middle ones if their number is even. NaN if there are none. */
export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? Number.NaN)
    : ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2;
}

/** How many items a second the work gets through: repeated until it has taken long enough for the clock to be no matter. */
export function rateOf(work: () => void, itemsPerCall: number, minMs: number): number {
  let calls = 0;
  const startMs = performance.now();
  let elapsedMs = 0;
  do {
    work();
    calls++;
    elapsedMs = performance.now() - startMs;
  } while (elapsedMs < minMs);
  return (calls * itemsPerCall * 1e3) / elapsedMs;
}
