import { exitCodes, type ExitCode } from "../exit-codes.ts";
import { formatCount } from "../report/quantities.ts";
import { type BaselineResult, compareWithBaseline } from "./baseline.ts";
import type { Metric, MetricName } from "./metric.ts";
import { metricText } from "./metric-text.ts";
import { checkThresholds, type Threshold, type ThresholdResult } from "./threshold.ts";

/** What the figures are held to. */
export interface Demands {
  readonly thresholds: readonly Threshold[];
  /** The figures of an earlier result, or null. */
  readonly baseline: readonly Metric[] | null;
  /** How much worse than the baseline is still well: 0.1 is a tenth. */
  readonly maxRegression: number;
}

/** Whether the figures are what was demanded. */
export interface Verdict {
  readonly metrics: readonly Metric[];
  readonly thresholds: readonly ThresholdResult[];
  readonly baseline: readonly BaselineResult[];
}

export function judge(metrics: readonly Metric[], demands: Demands): Verdict {
  return {
    metrics,
    thresholds: checkThresholds(demands.thresholds, metrics),
    baseline: demands.baseline === null ? [] : compareWithBaseline(demands.baseline, metrics, demands.maxRegression),
  };
}

/** A missed threshold is what was asked about by name, so it comes before a regression. */
export function verdictExitCode({ thresholds, baseline }: Verdict): ExitCode {
  if (thresholds.some(({ passed }) => !passed)) {
    return exitCodes.threshold;
  }
  return baseline.some(({ regressed }) => regressed) ? exitCodes.regression : exitCodes.ok;
}

/** A line for every threshold, and one for every figure that the baseline has too; nothing if nothing was demanded. */
export function verdictText({ thresholds, baseline }: Verdict): string {
  const kept = thresholds.map(({ expr, passed, actual }) => {
    const found =
      actual === null ? "nothing was measured" : `worst is ${metricText(expr.trim().split(/\s*[<>]/)[0] as MetricName, actual)}`;
    return `${passed ? "ok    " : "MISSED"}  ${expr}  (${found})\n`;
  });
  const compared = baseline.map(({ name, scope, before, now, worseBy, regressed }) => {
    const change = changeText(before, now, worseBy);
    return `${regressed ? "WORSE " : "ok    "}  ${name} of ${scope}: ${metricText(name, before)} -> ${metricText(name, now)}, ${change}\n`;
  });
  return [...kept, ...compared].join("");
}

/** `50.0% lower, worse`: what the figure did, and whether that is good. */
function changeText(before: number, now: number, worseBy: number): string {
  if (worseBy === 0) {
    return "unchanged";
  }
  const moved = before === 0 ? "none before" : now > before * factorFrom ? factorText(now / before) : percentText(before, now);
  return `${moved}, ${worseBy > 0 ? "worse" : "better"}`;
}

/** From here on people think in factors: `900.0% higher` is read twice. */
const factorFrom = 3;

function factorText(factor: number): string {
  return `${factor >= 100 ? formatCount(factor) : factor.toFixed(1)} times as much`;
}

function percentText(before: number, now: number): string {
  return `${Math.abs(((now - before) / before) * 100).toFixed(1)}% ${now > before ? "higher" : "lower"}`;
}
