import { InvalidArgumentError } from "commander";
import { isDuration, isMetricName, type Metric, type MetricName, metricDirections } from "./metric.ts";

/** A bound on a figure: `decode.p99<250us`. */
export interface Threshold {
  readonly expr: string;
  readonly metric: MetricName;
  readonly operator: "<" | "<=" | ">" | ">=";
  readonly bound: number;
}

/** Whether a bound was kept, and by what. `actual` is the worst of all topics and formats; null if nothing was measured. */
export interface ThresholdResult {
  readonly expr: string;
  readonly passed: boolean;
  readonly actual: number | null;
}

const expression = /^\s*([a-z0-9.]+)\s*(<=?|>=?)\s*(-?\d+(?:\.\d+)?)\s*([a-zµ/]*)\s*$/i;
const durationUnits: Readonly<Record<string, number>> = { ns: 1, us: 1e3, µs: 1e3, ms: 1e6, s: 1e9 };
const amountUnits: Readonly<Record<string, number>> = { "": 1, k: 1e3, m: 1e6, b: 1, kb: 1e3, mb: 1e6, "mb/s": 1e6, x: 1 };

/** Reads one `--threshold`; several flags add up. A name that is misspelt would hold for ever, so it is refused. */
export function collectThresholds(text: string, before: readonly Threshold[] = []): readonly Threshold[] {
  const [, name = "", operator, amount, unit = ""] = expression.exec(text) ?? [];
  if (operator === undefined) {
    throw new InvalidArgumentError("It must be a figure, a comparison and a bound, such as 'decode.p99<250us' or 'rate>=100k'.");
  }
  if (!isMetricName(name)) {
    throw new InvalidArgumentError(`There is no figure ${name}; there are ${Object.keys(metricDirections).join(", ")}.`);
  }
  const units = isDuration(name) ? durationUnits : amountUnits;
  const factor = Object.hasOwn(units, unit.toLowerCase()) ? units[unit.toLowerCase()] : undefined;
  if (factor === undefined) {
    const wanted = isDuration(name) ? "a unit of ns, us, ms or s" : "a number, perhaps with k or m";
    throw new InvalidArgumentError(`${name} needs ${wanted}, not ${unit === "" ? "a bare number" : unit}.`);
  }
  return [...before, { expr: text, metric: name, operator: operator as Threshold["operator"], bound: Number(amount) * factor }];
}

export function checkThresholds(thresholds: readonly Threshold[], metrics: readonly Metric[]): readonly ThresholdResult[] {
  return thresholds.map(({ expr, metric, operator, bound }) => {
    const values = metrics.filter(({ name }) => name === metric).map(({ value }) => value);
    if (values.length === 0) {
      return { expr, passed: false, actual: null };
    }
    const actual = operator.startsWith("<") ? Math.max(...values) : Math.min(...values);
    return { expr, passed: compare(actual, operator, bound), actual };
  });
}

function compare(actual: number, operator: Threshold["operator"], bound: number): boolean {
  switch (operator) {
    case "<":
      return actual < bound;
    case "<=":
      return actual <= bound;
    case ">":
      return actual > bound;
    case ">=":
      return actual >= bound;
  }
}
