import { createHistogram, type RecordableHistogram } from "node:perf_hooks";

const longestUs = 3_600_000_000;

/** Percentiles of delays, in milliseconds. Zero is a delay, too: histograms of Node begin at 1, so microseconds are counted from 1. */
export interface DelaySummary {
  readonly count: number;
  readonly meanMs: number;
  readonly p50Ms: number;
  readonly p90Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly maxMs: number;
  /** The whole distribution: percentile and the delay that so many percent do not exceed. */
  readonly curve: readonly (readonly [percentile: number, ms: number])[];
}

const percentiles = [0.1, 10, 25, 50, 75, 90, 95, 99, 99.9, 99.99, 100];

export class DelayHistogram {
  readonly #histogram: RecordableHistogram = createHistogram({ lowest: 1, highest: longestUs, figures: 3 });

  /** Below zero (the clock of a timer may be early by a fraction) counts as none. */
  add(delayMs: number): void {
    this.#histogram.record(Math.min(longestUs, Math.max(1, Math.round(delayMs * 1e3))));
  }

  summary(): DelaySummary {
    const histogram = this.#histogram;
    if (histogram.count === 0) {
      return { count: 0, meanMs: 0, p50Ms: 0, p90Ms: 0, p99Ms: 0, p999Ms: 0, maxMs: 0, curve: [] };
    }
    const at = (percentile: number): number => histogram.percentile(percentile) / 1e3;
    return {
      count: histogram.count,
      meanMs: histogram.mean / 1e3,
      p50Ms: at(50),
      p90Ms: at(90),
      p99Ms: at(99),
      p999Ms: at(99.9),
      maxMs: histogram.max / 1e3,
      curve: percentiles.map((percentile) => [percentile, at(percentile)]),
    };
  }
}
