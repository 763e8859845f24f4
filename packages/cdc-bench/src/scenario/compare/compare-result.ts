import { rulesFor } from "../../measure/rules.ts";
import type { Environment } from "../../report/environment.ts";
import type { Comparison, ComparedPair, ComparedReader } from "./comparison.ts";
import { warningsOf } from "./warnings.ts";
import { percentileMetrics, sizeMetrics } from "../../verdict/metrics-of.ts";
import type { Metric } from "../../verdict/metric.ts";
import type { Verdict } from "../../verdict/verdict.ts";
import type { BenchResult } from "../../result/bench-result.ts";
import type { RunTime } from "../../result/run-time.ts";

/** The result of `compare`. */
export interface CompareResult extends BenchResult {
  readonly command: "compare";
  /** Rounds that were counted. */
  readonly rounds: number;
  readonly readers: readonly ComparedReader[];
  readonly pairs: readonly ComparedPair[];
}

export interface CompareParts extends RunTime {
  readonly aborted: boolean;
  readonly environment: Environment;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly rounds: number;
  readonly comparison: Comparison;
  /** Whether records came from memory rather than from brokers. */
  readonly isInMemory: boolean;
  readonly hasSameRows: boolean;
  /** What open transactions held back, in sentences. */
  readonly heldBack: readonly string[];
  readonly verdict: Verdict;
}

/** Rates of everybody, sizes and decode times of cdckit's readings, and cdckit's rate by the rate of what people use today. */
export function compareMetrics({ readers, pairs }: Comparison): readonly Metric[] {
  return [
    ...readers.flatMap(({ topic, reader, rate, bytesPerRecord, errorRecords, sizes, decode }): readonly Metric[] => {
      const scope = `${topic}, ${reader}`;
      return [
        { name: "rate", scope, value: rate.median },
        { name: "throughput", scope, value: rate.median * bytesPerRecord },
        { name: "errors", scope, value: errorRecords },
        ...(sizes === null ? [] : sizeMetrics(scope, sizes)),
        ...(decode === null ? [] : percentileMetrics("decode", scope, decode)),
      ];
    }),
    ...pairs
      .filter(({ dimension }) => dimension === "reader")
      .map(({ faster, slower, ratio }): Metric => {
        const isOursFaster = faster.reader.startsWith("cdckit");
        const peer = isOursFaster ? slower : faster;
        return { name: "ratio", scope: `${peer.topic}, cdckit to ${peer.reader}`, value: isOursFaster ? ratio.ratio : 1 / ratio.ratio };
      }),
  ];
}

export function compareResult(parts: CompareParts): CompareResult {
  const { startedAt, elapsedMs, aborted, environment, settings, rounds, comparison, isInMemory, hasSameRows, heldBack, verdict } = parts;
  return {
    schemaVersion: 1,
    command: "compare",
    startedAt,
    elapsedMs,
    aborted,
    environment,
    settings,
    rules: rulesFor(
      "rotation",
      "ratioInterval",
      ...(hasSameRows ? (["sameRows"] as const) : []),
      ...(isInMemory ? (["memoryOnly"] as const) : (["joinNotCounted", "sameFetches", "ownGroup", "drainHasNoLatency"] as const)),
      "decodeSampled",
      "sizes",
    ),
    notes: [...heldBack, ...warningsOf(comparison, rounds, isInMemory)],
    rounds,
    ...comparison,
    ...verdict,
  };
}
