import type { DurationSummary } from "../measure/duration-histogram.ts";
import type { SizeSummary } from "../measure/size-tally.ts";
import type { Metric } from "./metric.ts";

/** The percentiles of a duration as figures; none if nothing was timed. */
export function percentileMetrics(
  of: "decode" | "latency" | "commit" | "roundtrip" | "request",
  scope: string,
  { count, p50Ns, p95Ns, p99Ns }: DurationSummary,
): readonly Metric[] {
  if (count === 0) {
    return [];
  }
  return [
    { name: `${of}.p50`, scope, value: p50Ns },
    { name: `${of}.p95`, scope, value: p95Ns },
    { name: `${of}.p99`, scope, value: p99Ns },
  ];
}

export function sizeMetrics(scope: string, { avgBytes, medianBytes, p99Bytes }: SizeSummary): readonly Metric[] {
  return [
    { name: "size.avg", scope, value: avgBytes },
    { name: "size.median", scope, value: medianBytes },
    { name: "size.p99", scope, value: p99Bytes },
  ];
}
