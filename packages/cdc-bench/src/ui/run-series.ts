import type { Observation } from "../observe/observer.ts";

/** A point of the live charts. `null` is what was not said. */
export interface RunPoint {
  /** Seconds since the run began. */
  readonly atS: number;
  readonly phase: string;
  readonly perSecond: number | null;
  readonly lag: number | null;
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
  readonly p99Ms: number | null;
}

/** The course of a run in bounded memory: a page that is opened late sees all of it. */
export interface RunSeries {
  readonly points: readonly RunPoint[];
  /** Adds an observation, and gives its point; null if the last point is too near: a long run has fewer points a second. */
  add(atMs: number, observation: Observation): RunPoint | null;
}

/** @param maxPoints when there are so many, every second one is dropped, and points come half as often */
export function createRunSeries(maxPoints = 1_200): RunSeries {
  let points: RunPoint[] = [];
  let minGapS = 0;
  let counted: { readonly atS: number; readonly done: number; readonly total: number | undefined } | null = null;
  /** What was done since the last point: the rate that is observed is smoothed, which a chart need not be. */
  const rateSince = (atS: number, done: number | undefined, total: number | undefined): number | null => {
    const last = counted;
    counted = done === undefined ? null : { atS, done, total };
    const isSameCount = last !== null && done !== undefined && last.total === total && done >= last.done && atS > last.atS;
    return isSameCount ? (done - last.done) / (atS - last.atS) : null;
  };
  return {
    get points() {
      return points;
    },
    add(atMs, { phase, done, total, perSecond, lag, latencyMs }) {
      const atS = atMs / 1e3;
      const last = points.at(-1);
      if (last !== undefined && last.phase === phase && atS - last.atS < minGapS) {
        return null;
      }
      const point: RunPoint = {
        atS,
        phase,
        perSecond: rateSince(atS, done, total) ?? (done === undefined ? (perSecond ?? null) : null),
        lag: lag ?? null,
        p50Ms: latencyMs?.p50 ?? null,
        p95Ms: latencyMs?.p95 ?? null,
        p99Ms: latencyMs?.p99 ?? null,
      };
      points.push(point);
      if (points.length >= maxPoints) {
        points = points.filter((_, index) => index % 2 === 0);
        minGapS = (2 * (atS - (points[0]?.atS ?? 0))) / maxPoints;
      }
      return point;
    },
  };
}
