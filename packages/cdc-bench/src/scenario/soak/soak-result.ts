import type { DurationSummary } from "../../measure/duration-histogram.ts";
import type { BenchResult } from "../../result/bench-result.ts";
import type { Drift } from "./drift.ts";
import type { SoakWindow } from "./soak-window.ts";

/** What `cdc-bench soak --json` writes. */
export interface SoakResult extends BenchResult {
  readonly command: "soak";
  readonly formats: readonly SoakFormat[];
  /** Of the whole process, which the formats share. Null if there are too few windows. */
  readonly rssDrift: Drift | null;
}

/** One format: its consumer has a thread of its own. */
export interface SoakFormat {
  readonly format: string;
  readonly title: string;
  readonly events: number;
  readonly elapsedMs: number;
  /** Events a second. */
  readonly perSecond: number;
  readonly errorRecords: number;
  /** How often a partition was read again from its first record. 0 at a set rate. */
  readonly loops: number;
  /** Records that were written at the set rate; null without one. */
  readonly written: number | null;
  /** From the intended time of a record until it was handled. Null without a set rate. */
  readonly latency: DurationSummary | null;
  /** Null: too few windows, or nothing of that kind was measured. */
  readonly drift: Readonly<Record<DriftName, Drift | null>>;
  /** The time series, at most 1,200 windows. */
  readonly windows: readonly SoakWindow[];
}

/** Rates are events a second, latencies milliseconds, heaps bytes, collections milliseconds in a second. */
export const driftNames = ["rate", "latency.p50", "latency.p99", "heap", "gc"] as const;
export type DriftName = (typeof driftNames)[number];
