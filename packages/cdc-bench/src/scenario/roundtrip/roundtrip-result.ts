import type { CodecMeasure } from "../../codec/measure-codecs.ts";
import type { DurationSummary } from "../../measure/duration-histogram.ts";
import type { RateSummary } from "../../measure/rounds.ts";
import type { BenchResult } from "../../result/bench-result.ts";
import type { Metric } from "../../verdict/metric.ts";
import { percentileMetrics } from "../../verdict/metrics-of.ts";
import type { Coping, SchemaVersion } from "./evolution.ts";

/** One at a time, or several at once. */
export type RoundtripMode = "one at a time" | "pipelined";

/** The round trips of one codec in one mode. */
export interface RoundtripMeasure {
  readonly codec: string;
  readonly mode: RoundtripMode;
  readonly compression: string;
  readonly threads: number;
  /** Rounds of a thread that are under way at once. */
  readonly inFlight: number;
  /** Values in a round. */
  readonly batch: number;
  readonly rounds: number;
  readonly values: number;
  /** Mean of the payloads, as the codec wrote them. */
  readonly payloadBytes: number;
  /** Of all threads: sums of blocks, each of which ends with its slowest thread. */
  readonly elapsedMs: number;
  readonly valuesPerSecond: RateSummary;
  /** Of a round. */
  readonly latency: DurationSummary;
  readonly curve: readonly (readonly [percentile: number, durationNs: number])[];
  /** Means of a round. */
  readonly stages: { readonly serializeNs: number; readonly sendNs: number; readonly receiveNs: number; readonly deserializeNs: number };
}

/** How a codec got along with a field that was added at half of the rounds. */
export interface EvolutionMeasure {
  readonly codec: string;
  readonly reader: SchemaVersion;
  readonly before: EvolutionHalf;
  readonly after: EvolutionHalf;
  readonly copes: boolean;
}

/** Rounds with one writer's schema. */
export interface EvolutionHalf {
  readonly writer: SchemaVersion;
  readonly rounds: number;
  readonly failures: number;
  readonly failure: string | null;
  readonly copings: Readonly<Partial<Record<Coping, number>>>;
  readonly p50Ns: number;
  readonly payloadBytes: number;
}

/** The result of `roundtrip`. */
export interface RoundtripResult extends BenchResult {
  readonly via: string;
  readonly payload: { readonly suite: string; readonly title: string; readonly rows: number };
  /** In memory, without network. */
  readonly memory: readonly CodecMeasure[];
  readonly roundtrips: readonly RoundtripMeasure[];
  readonly evolution: readonly EvolutionMeasure[];
}

export function roundtripMetrics(
  rows: number,
  memory: readonly CodecMeasure[],
  roundtrips: readonly RoundtripMeasure[],
): readonly Metric[] {
  const inMemory = memory.flatMap(({ codec, sizeBytes, write, read }): readonly Metric[] => [
    ...(write === null ? [] : [{ name: "codec.write", scope: codec, value: (write.ms.median * 1e6) / rows } as const]),
    { name: "codec.read", scope: codec, value: (read.ms.median * 1e6) / rows },
    { name: "size.avg", scope: codec, value: sizeBytes / rows },
  ]);
  const trips = roundtrips.flatMap(({ codec, mode, compression, latency, valuesPerSecond }): readonly Metric[] => {
    const scope = `${codec}, ${mode}${compression === "none" ? "" : `, ${compression}`}`;
    return [...percentileMetrics("roundtrip", scope, latency), { name: "rate", scope, value: valuesPerSecond.median }];
  });
  return [...inMemory, ...trips];
}

/** Whether a reader gets along with both writers: every row read, none of it changed. */
export function copes(before: EvolutionHalf, after: EvolutionHalf): boolean {
  return [before, after].every(({ failures, copings, rounds }) => rounds > 0 && failures === 0 && (copings.wrong ?? 0) === 0);
}
