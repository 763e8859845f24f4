import type { Observation } from "./observer.ts";

/** How quickly the pace follows a change: what is older counts for less and less. */
const smoothingMs = 5_000;
/** No time left is given before: the first batches say little of the rest. */
const minElapsedMs = 2_000;
const sampleEveryMs = 500;
const maxSamples = 60;

/** How fast a measurement has been going. */
export interface Pace {
  /** Milliseconds since the present count began. */
  readonly elapsedMs: number;
  /** What the measurement said, or what its counts show. */
  readonly perSecond: number | undefined;
  /** Rates, oldest first, two a second. */
  readonly rates: readonly number[];
  /** Until `done` is `total`. Undefined while that is not known. */
  readonly leftMs: number | undefined;
}

/** Follows the observations of one measurement: a count that falls, or another total, begins anew. */
export function createPaceMeter(startMs: number): (observation: Observation, nowMs: number) => Pace {
  let count = { startMs, atMs: startMs, done: 0, total: undefined as number | undefined };
  let smoothed: number | undefined;
  let rates: number[] = [];
  let sampledAtMs = startMs;

  const follow = (done: number, total: number | undefined, nowMs: number): void => {
    if (done < count.done || total !== count.total) {
      count = { startMs: nowMs, atMs: nowMs, done, total };
      smoothed = undefined;
      rates = [];
      return;
    }
    const spentMs = nowMs - count.atMs;
    if (spentMs <= 0) {
      return;
    }
    const perMs = (done - count.done) / spentMs;
    const factor = 1 - Math.exp(-spentMs / smoothingMs);
    smoothed = smoothed === undefined ? perMs : smoothed + factor * (perMs - smoothed);
    count = { ...count, atMs: nowMs, done };
  };

  return (observation, nowMs) => {
    const { done, total } = observation;
    if (done !== undefined) {
      follow(done, total, nowMs);
    }
    const perSecond = observation.perSecond ?? (done === undefined || smoothed === undefined ? undefined : smoothed * 1e3);
    if (perSecond !== undefined && nowMs - sampledAtMs >= sampleEveryMs) {
      rates = [...rates, perSecond].slice(-maxSamples);
      sampledAtMs = nowMs;
    }
    const elapsedMs = nowMs - count.startMs;
    const isKnown = done !== undefined && total !== undefined && smoothed !== undefined && smoothed > 0 && elapsedMs >= minElapsedMs;
    return { elapsedMs, perSecond, rates, leftMs: isKnown ? Math.max(0, total - done) / smoothed! : undefined };
  };
}
