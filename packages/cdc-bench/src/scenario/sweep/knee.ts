import { medianOf, type RateSummary, summarizeRates } from "../../measure/rounds.ts";

export interface SweepPoint {
  readonly value: number;
  /** Events a second. */
  readonly rate: RateSummary;
}

/** How near to the best a setting must come to be as good. */
export const kneeTolerance = 0.05;

/** The smallest value whose median rate is within 5% of the best one. Null if there are no points. */
export function kneeOf(points: readonly SweepPoint[], tolerance: number = kneeTolerance): SweepPoint | null {
  const best = Math.max(...points.map(({ rate }) => rate.median));
  const sorted = points.toSorted((a, b) => a.value - b.value);
  return sorted.find(({ rate }) => rate.median >= best * (1 - tolerance)) ?? null;
}

/** The rates of several rounds, by value, from small to large. */
export function pointsOf(rates: ReadonlyMap<number, readonly number[]>): readonly SweepPoint[] {
  return [...rates]
    .filter(([, rounds]) => rounds.length > 0)
    .map(([value, rounds]) => ({ value, rate: summarizeRates(rounds) }))
    .sort((a, b) => a.value - b.value);
}

/**
 * How far measurements of the same settings lie apart: half of their range as a part of their median. Null if there are fewer than two.
 * What differs by less is no difference.
 */
export function noiseOf(rates: readonly number[]): number | null {
  return rates.length < 2 ? null : (Math.max(...rates) - Math.min(...rates)) / 2 / medianOf(rates);
}

/** Whether a rate is better than another by more than noise and more than the tolerance of the knee. */
export function isBetter(rate: number, than: number, noise: number | null): boolean {
  return rate > than * (1 + Math.max(kneeTolerance, noise ?? 0));
}
