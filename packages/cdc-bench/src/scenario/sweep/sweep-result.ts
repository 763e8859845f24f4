import type { RateSummary } from "../../measure/rounds.ts";
import type { BenchResult } from "../../result/bench-result.ts";
import type { Tuning } from "../catch-up/tuning.ts";
import type { Dimension } from "./dimensions.ts";
import type { SweepPoint } from "./knee.ts";

/** What `cdc-bench sweep --json` writes. Rates are events a second, from the first to the last event. */
export interface SweepResult extends BenchResult {
  readonly command: "sweep";
  /** The settings that everything was compared with, measured in each round of each curve. */
  readonly base: { readonly tuning: Tuning; readonly rate: RateSummary };
  /** How far measurements of the same settings lie apart: 0.03 is ±3%. */
  readonly noise: number | null;
  readonly curves: readonly SweepCurve[];
  /** All knees together, measured in turns with the base. Null if no knee is better than the base, or time was up. */
  readonly combined: CombinedMeasure | null;
  /** The settings that won, as TypeScript. */
  readonly configuration: string;
}

export interface SweepCurve extends Pick<Dimension, "name" | "option" | "unit"> {
  readonly points: readonly SweepPoint[];
  /** The smallest value within 5% of the best. */
  readonly knee: SweepPoint | null;
  /** Whether the knee is better than the base by more than noise. */
  readonly isBetter: boolean;
}

export interface CombinedMeasure {
  readonly tuning: Tuning;
  readonly rate: RateSummary;
  /** The base in the same rounds. */
  readonly baseRate: RateSummary;
  readonly isBetter: boolean;
}
