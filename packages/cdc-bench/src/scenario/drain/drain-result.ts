import type { BenchResult } from "../../result/bench-result.ts";
import type { RateSummary } from "../../measure/rounds.ts";
import type { RateSeriesSummary } from "../../measure/rate-series.ts";
import type { CapCounts } from "../catch-up/cap-tally.ts";
import type { CatchUpMeasure } from "../catch-up/catch-up.ts";
import type { DeliveryKind, TargetCheck } from "../catch-up/target.ts";

/** What `cdc-bench drain --json` writes. Rates are events a second, from the first to the last event. */
export interface DrainResult extends BenchResult {
  readonly command: "drain";
  readonly backlog: BacklogMeasure;
  readonly drains: readonly ContenderMeasure[];
  /** What effectively-once costs against at-least-once, by target. */
  readonly deliveryCosts: readonly DeliveryCost[];
  readonly slowSink: SlowSinkMeasure | null;
  /** The measured settings as TypeScript. */
  readonly configuration: string;
}

export interface BacklogMeasure {
  readonly via: "kafka" | "postgres";
  readonly format: string;
  readonly topic: string;
  readonly partitions: number;
  readonly writers: number;
  /** Records that were handled and committed before the consumer stopped. */
  readonly checkpointRecords: number;
  /** Records that were written while it was stopped. */
  readonly records: number;
  /** Null if a connector wrote them. */
  readonly bytes: number | null;
  readonly writeMs: number;
  readonly writtenPerSecond: number;
  /** With `via: "postgres"`: rows that the writers inserted a second, before the connector had them in Kafka. */
  readonly insertedPerSecond?: number;
}

/** One target with one delivery, in all rounds. */
export interface ContenderMeasure {
  /** `postgres, effectively-once`. */
  readonly label: string;
  readonly target: string;
  readonly delivery: DeliveryKind;
  readonly avg: RateSummary;
  /** Medians over the rounds. Null if a drain was too short for windows. */
  readonly p50: number | null;
  readonly peak: number | null;
  readonly bytesPerSecond: RateSummary;
  readonly rounds: readonly DrainRound[];
}

export interface DrainRound extends Omit<CatchUpMeasure, "firstOffsets"> {
  /** Whether the first record that was read is the one after the checkpoint, in each partition. Null if fetches do not tell. */
  readonly resumedAtCheckpoint: boolean | null;
  /** What the target holds. Null if there is nothing to count, or the drain ended early. */
  readonly check: TargetCheck | null;
}

export interface DeliveryCost {
  readonly target: string;
  /** How much slower effectively-once is, in percent of the rate of at-least-once, round by round. */
  readonly percent: RateSummary;
  /** How much longer the drain takes for each commit that it makes, in milliseconds, round by round. */
  readonly msPerCommit: RateSummary;
}

/** Two sinks of one consumer, each with its checkpoint. */
export interface SlowSinkMeasure {
  readonly delayMs: number;
  /** The fast sink without the other. */
  readonly alone: RateSeriesSummary;
  readonly fast: RateSeriesSummary;
  readonly slow: RateSeriesSummary;
}

export type { CapCounts };
