import type { DurationSummary } from "../../measure/duration-histogram.ts";
import type { BenchResult } from "../../result/bench-result.ts";
import type { Metric } from "../../verdict/metric.ts";
import { percentileMetrics } from "../../verdict/metrics-of.ts";
import type { FormatName } from "./body-formats.ts";

/** What one form of request took. */
export interface ResponseMeasure {
  readonly method: "GET" | "POST";
  readonly format: FormatName;
  /** The content coding: `identity`, `gzip`, `br`, `zstd`. */
  readonly encoding: string;
  /** From the request until its rows were there; POST: until the receipt was there, with writing the body. */
  readonly request: DurationSummary;
  readonly curve: readonly (readonly [percentile: number, durationNs: number])[];
  readonly requestsPerSecond: number;
  /** Of the body, as it was on the wire, and before compression. */
  readonly sentBytes: number;
  readonly plainBytes: number;
  /** Client and server together, for one request; the server's part is null if it is not ours. Null if Ctrl-C came before it was counted. */
  readonly allocatedBytes: number | null;
  readonly allocatedByClientBytes: number | null;
  readonly allocatedByServerBytes: number | null;
  /** Means of a request. */
  readonly stages: ResponseStages;
}

export interface ResponseStages {
  /** Writing and compressing what POST sends. */
  readonly prepareNs: number;
  /** Until the first byte of the answer. */
  readonly waitNs: number;
  /** The part of the waiting that the server says was its own work; null if it says nothing. */
  readonly serverNs: number | null;
  readonly transferNs: number;
  readonly decompressNs: number;
  readonly decodeNs: number;
}

/** A form of request that has no figures, and why. */
export interface UnansweredAsk {
  readonly method: "GET" | "POST";
  readonly format: FormatName;
  readonly encoding: string;
  readonly reason: string;
  /** Whether the API does not offer it; otherwise its answer is broken. */
  readonly isRefused: boolean;
}

/** The result of `http`. */
export interface HttpResult extends BenchResult {
  /** Null: the API of this program. */
  readonly url: string | null;
  readonly responses: readonly ResponseMeasure[];
  readonly unanswered: readonly UnansweredAsk[];
}

export function httpMetrics(responses: readonly ResponseMeasure[]): readonly Metric[] {
  return responses.flatMap(({ method, format, encoding, request, sentBytes, allocatedBytes, requestsPerSecond }): readonly Metric[] => {
    const scope = `${method}, ${format}, ${encoding}`;
    return [
      ...percentileMetrics("request", scope, request),
      { name: "rate", scope, value: requestsPerSecond },
      { name: "size.avg", scope, value: sentBytes },
      ...(allocatedBytes === null ? [] : [{ name: "allocated", scope, value: allocatedBytes } as const]),
    ];
  });
}
