import { comparisonRounds, type FormatComparison } from "./compare-formats.ts";
import type { DetectedTopic } from "./detect-bundled.ts";
import type { Environment } from "../report/environment.ts";
import { formatRatio } from "../report/quantities.ts";
import { percentileMetrics, sizeMetrics } from "../verdict/metrics-of.ts";
import type { Metric } from "../verdict/metric.ts";
import type { Verdict } from "../verdict/verdict.ts";
import type { BenchResult } from "../result/bench-result.ts";
import type { RunTime } from "../result/run-time.ts";

/** The result of `demo`. */
export interface DemoResult extends BenchResult {
  readonly command: "demo";
  readonly rounds: number;
  readonly detected: readonly DetectedTopic[];
  readonly compared: readonly FormatComparison[];
  readonly conclusion: string;
}

/** What a result of `demo` is made of. */
export interface DemoParts extends RunTime {
  readonly aborted: boolean;
  readonly environment: Environment;
  readonly detected: readonly DetectedTopic[];
  readonly compared: readonly FormatComparison[];
  readonly verdict: Verdict;
}

/** The figures that thresholds and baselines can be about. */
export function demoMetrics(compared: readonly FormatComparison[]): readonly Metric[] {
  return compared.flatMap(({ title: scope, pipeline, megabytesPerSecond, ratio, sizes, decode }) => [
    { name: "rate", scope, value: pipeline.median },
    { name: "throughput", scope, value: megabytesPerSecond * 1e6 },
    { name: "ratio", scope, value: ratio.median },
    ...sizeMetrics(scope, sizes),
    ...percentileMetrics("decode", scope, decode),
  ]);
}

export function demoResult({ startedAt, elapsedMs, aborted, environment, detected, compared, verdict }: DemoParts): DemoResult {
  return {
    schemaVersion: 1,
    command: "demo",
    startedAt,
    elapsedMs,
    aborted,
    environment,
    settings: { rounds: comparisonRounds, rows: 2_000 },
    rules: [
      `Medians of ${comparisonRounds} rounds in alternation after one that is not counted. Size is key + value; MB is 10^6 bytes.`,
      "Both sides read key and value; ours reads operation, table, key and every column of both rows.",
    ],
    notes: [],
    rounds: comparisonRounds,
    detected,
    compared,
    conclusion: conclusionOf(compared),
    ...verdict,
  };
}

/** One sentence on what the format costs, one on what the decoder saves. */
export function conclusionOf(compared: readonly FormatComparison[]): string {
  const avro = compared.find(({ title }) => title.endsWith("Avro"));
  const others = compared.filter((format) => format !== avro);
  if (avro === undefined || others.length === 0) {
    return "";
  }
  const against = others.map(({ title, sizes, pipeline }) => {
    const space = formatRatio(sizes.avgBytes / avro.sizes.avgBytes);
    return `${space} smaller than ${title} and consumed ${timesAs(avro.pipeline.median / pipeline.median)}`;
  });
  const speeds = compared.map(({ title, ratio, peer }) => `${title} ${formatRatio(ratio.median)} as fast as ${peer.name}`);
  return `${avro.title} is ${against.join(", ")}.\ncdckit decodes ${speeds.join(", ")}.`;
}

function timesAs(ratio: number): string {
  return ratio >= 1 ? `${formatRatio(ratio)} faster` : `${formatRatio(1 / ratio)} slower`;
}
