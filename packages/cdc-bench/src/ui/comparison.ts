import { compareWithBaseline, isMetric } from "../verdict/baseline.ts";
import { isPercentage, type Metric, type MetricName, metricDirections } from "../verdict/metric.ts";
import { metricText } from "../verdict/metric-text.ts";

/** What counts as worse if a page compares: the default of `--max-regression`. */
const maxRegression = 0.1;

/** One figure of one run or of two. */
export interface FigureRow {
  readonly name: MetricName;
  readonly scope: string;
  readonly before: Figure | null;
  readonly now: Figure | null;
  /** now / before; null if one is missing, there was nothing before, or it is a percentage around zero. */
  readonly ratio: number | null;
  /** What is better for this figure. */
  readonly better: "higher" | "lower";
  /** Null if runs are not held to this figure (it does not repeat well), or one is missing. */
  readonly verdict: "better" | "worse" | "same" | null;
}

export interface Figure {
  readonly value: number;
  readonly text: string;
}

/** The figures of a result as its JSON has them; none if it has none. */
export function metricsIn(result: unknown): readonly Metric[] {
  const { metrics } = Object(result) as { readonly metrics?: unknown };
  return Array.isArray(metrics) ? metrics.filter(isMetric) : [];
}

/** The figures of two runs side by side: those of the second in their order, then those that only the first has. */
export function compareFigures(before: readonly Metric[], now: readonly Metric[]): readonly FigureRow[] {
  const judged = compareWithBaseline(before, now, maxRegression);
  const inBoth = now.map((metric) => {
    const earlier = before.find((one) => isSame(one, metric));
    const found = judged.find((one) => isSame(one, metric));
    const verdict = found === undefined ? null : Math.abs(found.worseBy) <= maxRegression ? "same" : found.regressed ? "worse" : "better";
    return rowOf(metric, earlier ?? null, metric, verdict);
  });
  const gone = before.filter((metric) => !now.some((one) => isSame(one, metric)));
  return [...inBoth, ...gone.map((metric) => rowOf(metric, metric, null, null))];
}

export function figuresOf(metrics: readonly Metric[]): readonly FigureRow[] {
  return metrics.map((metric) => rowOf(metric, null, metric, null));
}

function rowOf({ name, scope }: Metric, before: Metric | null, now: Metric | null, verdict: FigureRow["verdict"]): FigureRow {
  const hasRatio = before !== null && now !== null && before.value !== 0 && !isPercentage(name);
  const ratio = hasRatio ? now.value / before.value : null;
  return { name, scope, before: figureOf(before), now: figureOf(now), ratio, better: metricDirections[name], verdict };
}

function figureOf(metric: Metric | null): Figure | null {
  return metric === null ? null : { value: metric.value, text: metricText(metric.name, metric.value) };
}

function isSame(a: { readonly name: string; readonly scope: string }, b: { readonly name: string; readonly scope: string }): boolean {
  return a.name === b.name && a.scope === b.scope;
}
