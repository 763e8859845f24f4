import { createHistogram, performance, type RecordableHistogram } from "node:perf_hooks";

/** A hundred days: a connector that was down for a night hands over changes of the evening. What is longer counts as this. */
const longestNs = 8_640_000_000_000_000;

/** Percentiles of durations, in nanoseconds. */
export interface DurationSummary {
  readonly count: number;
  readonly meanNs: number;
  readonly p50Ns: number;
  readonly p95Ns: number;
  readonly p99Ns: number;
  readonly maxNs: number;
}

/** Durations to three figures, whatever their number. */
export class DurationHistogram {
  readonly #histogram: RecordableHistogram = createDurationHistogram();

  recordNs(durationNs: number): void {
    recordDuration(this.#histogram, durationNs);
  }

  summary(): DurationSummary {
    return summarizeDurations(this.#histogram);
  }
}

/** A histogram that threads can send each other: `add` sums them up. */
export function createDurationHistogram(): RecordableHistogram {
  return createHistogram({ lowest: 1, highest: longestNs, figures: 3 });
}

export function recordDuration(histogram: RecordableHistogram, durationNs: number): void {
  histogram.record(Math.min(longestNs, Math.max(1, Math.round(durationNs))));
}

export function summarizeDurations(histogram: RecordableHistogram): DurationSummary {
  if (histogram.count === 0) {
    return { count: 0, meanNs: 0, p50Ns: 0, p95Ns: 0, p99Ns: 0, maxNs: 0 };
  }
  return {
    count: histogram.count,
    meanNs: histogram.mean,
    p50Ns: histogram.percentile(50),
    p95Ns: histogram.percentile(95),
    p99Ns: histogram.percentile(99),
    maxNs: histogram.max,
  };
}

/** The percentile curve: each percentile at which the duration changes, and the duration in nanoseconds. */
export function percentileCurve(histogram: RecordableHistogram): readonly (readonly [percentile: number, durationNs: number])[] {
  return histogram.count === 0 ? [] : [...histogram.percentiles].map(([percentile, durationNs]) => [percentile, durationNs]);
}

/** What reading the clock itself costs here, in nanoseconds: the least that two readings in a row lie apart, over many tries. */
export function clockCostNs(): number {
  const apart: number[] = [];
  for (let i = 0; i < 2_000; i++) {
    const start = performance.now();
    apart.push((performance.now() - start) * 1e6);
  }
  return apart.sort((a, b) => a - b)[apart.length >> 1] ?? 0;
}
