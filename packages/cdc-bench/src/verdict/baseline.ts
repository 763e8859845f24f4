import { readFileSync } from "node:fs";
import { BenchError } from "../bench-error.ts";
import { isMetricName, isPercentage, type Metric, type MetricName, metricDirections } from "./metric.ts";

/** The best window, and the slowest calls: chance decides them, and no two runs agree within a tenth. */
const unsteady = /^(?:rate\.peak|(?:decode|latency|commit|roundtrip|request)\.p9[59])$/;

function isCompared(name: MetricName): boolean {
  return !unsteady.test(name) && !isPercentage(name);
}

/** One figure then and now. */
export interface BaselineResult {
  readonly name: MetricName;
  readonly scope: string;
  readonly before: number;
  readonly now: number;
  /**
   * How much worse it is, as a part of what it was before: 0.1 is a tenth; below zero it is better. From nothing to something is 1, and so is
   * everything beyond: from -1 to 1.
   */
  readonly worseBy: number;
  readonly regressed: boolean;
}

/** The figures of an earlier `--json` result of the same command. */
export function readBaseline(file: string, command: string): readonly Metric[] {
  const result = parse(file);
  if (result["schemaVersion"] !== 1 || result["command"] !== command || !Array.isArray(result["metrics"])) {
    throw new BenchError("usage", `${file} is no result of "cdc-bench ${command} --json": make one with -o FILE.`);
  }
  return result["metrics"].filter(isMetric);
}

/** Compares what both have, and what repeats. A figure that only one of them has is nobody's regression. */
export function compareWithBaseline(before: readonly Metric[], now: readonly Metric[], maxRegression: number): readonly BaselineResult[] {
  return now
    .filter(({ name }) => isCompared(name))
    .flatMap(({ name, scope, value }) => {
      const earlier = before.find((metric) => metric.name === name && metric.scope === scope);
      if (earlier === undefined) {
        return [];
      }
      const worseBy = worseness(name, earlier.value, value);
      const bounded = Math.max(-1, Math.min(1, worseBy));
      return [{ name, scope, before: earlier.value, now: value, worseBy: bounded, regressed: worseBy > maxRegression }];
    });
}

/** Parts of the earlier figure, in both directions: a rate that halves is 50% worse, and one that doubles 100% better. */
function worseness(name: MetricName, before: number, now: number): number {
  if (before === now) {
    return 0;
  }
  const growth = before === 0 ? 1 : (now - before) / before;
  return metricDirections[name] === "higher" ? -growth : growth;
}

function parse(file: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(readFileSync(file, "utf8"))) as Readonly<Record<string, unknown>>;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    const reason = code === "ENOENT" ? "there is no such file" : (code ?? "it is not JSON");
    throw new BenchError("usage", `cannot read the baseline ${file}: ${reason}.`, { cause: error });
  }
}

/** Whether JSON holds a figure that we know. */
export function isMetric(value: unknown): value is Metric {
  const { name, scope, value: figure } = Object(value) as Partial<Metric>;
  return typeof name === "string" && isMetricName(name) && typeof scope === "string" && typeof figure === "number";
}
