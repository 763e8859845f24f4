import type { BenchResult } from "../result/bench-result.ts";
import type { Metric } from "../verdict/metric.ts";
import { transportMs, turnOver } from "./link.ts";
import type { CodecMeasure } from "./measure-codecs.ts";

/** Whether the rows were written together or one after the other. */
export type CodecMode = "list" | "objects";

/** The codecs of one data set in one mode. The first codec is plain JSON, which the others are compared with. */
export interface CodecSuite<Measure = CodecMeasure> {
  readonly suite: string;
  readonly title: string;
  readonly mode: CodecMode;
  readonly rows: number;
  readonly codecs: readonly Measure[];
}

/** What a codec cost, and how it compares with plain JSON if a link is in between. */
export interface LinkedCodecMeasure extends CodecMeasure {
  /** Null if no link was asked for. */
  readonly transportMs: number | null;
  /** The rate of the link at which this codec and plain JSON take equally long; null if one wins at every rate. */
  readonly equalsJsonAtBitsPerSecond: number | null;
}

/** The result of `codec`. */
export interface CodecResult extends BenchResult {
  readonly seed: number;
  readonly rounds: number;
  readonly linkBitsPerSecond: number | null;
  readonly suites: readonly CodecSuite<LinkedCodecMeasure>[];
}

/** The figures that thresholds and baselines can be about: nanoseconds and bytes for each row. */
export function codecMetrics(suites: readonly CodecSuite[]): readonly Metric[] {
  return suites.flatMap(({ suite, mode, rows, codecs }) =>
    codecs.flatMap(({ codec, sizeBytes, write, read }) => {
      const scope = `${suite}, ${mode}, ${codec}`;
      return [
        ...(write === null ? [] : [{ name: "codec.write", scope, value: (write.ms.median * 1e6) / rows } as const]),
        { name: "codec.read", scope, value: (read.ms.median * 1e6) / rows } as const,
        { name: "size.avg", scope, value: sizeBytes / rows } as const,
      ];
    }),
  );
}

/** The suite with what a link adds to each of its codecs. */
export function withLink(suite: CodecSuite, link: number | null): CodecSuite<LinkedCodecMeasure> {
  const json = suite.codecs[0];
  const codecs = suite.codecs.map((codec) => ({
    ...codec,
    transportMs: link === null ? null : transportMs(codec.sizeBytes, link),
    equalsJsonAtBitsPerSecond: json === undefined || json === codec ? null : turnOver(codec, json),
  }));
  return { ...suite, codecs };
}
