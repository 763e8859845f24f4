import { medianOf } from "./spread.ts";

/** What a process held at one moment, after a full collection. */
export interface MemorySample {
  readonly atS: number;
  readonly residentBytes: number;
  readonly heapUsedBytes: number;
  readonly externalBytes: number;
  readonly arrayBuffersBytes: number;
  /** What keeps the event loop alive: sockets, timers, requests. */
  readonly handles: number;
}

export type Watched = "residentBytes" | "heapUsedBytes" | "externalBytes" | "handles";

export interface Flatness {
  readonly what: Watched;
  readonly medianSecondThird: number;
  readonly medianLastThird: number;
  /** How much higher the last third is, as a share. */
  readonly growth: number;
  /** Of a straight line through the last two thirds, an hour. */
  readonly slopePerHour: number;
  readonly isFlat: boolean;
}

/** Whether the last third is higher than the second by more than the share. The second comes after the warm-up. */
export function flatnessOf(samples: readonly MemorySample[], what: Watched, maxGrowth: number): Flatness {
  const third = Math.floor(samples.length / 3);
  const later = samples.slice(third);
  const medianSecondThird = medianOf(later.slice(0, -third).map((sample) => sample[what]));
  const medianLastThird = medianOf(later.slice(-third).map((sample) => sample[what]));
  const growth = medianLastThird / medianSecondThird - 1;
  return {
    what,
    medianSecondThird,
    medianLastThird,
    growth,
    slopePerHour: 3600 * slopeOf(later.map((sample) => [sample.atS, sample[what]])),
    isFlat: growth <= maxGrowth,
  };
}

/** Of the straight line with the least squares. */
function slopeOf(points: readonly (readonly [x: number, y: number])[]): number {
  const meanX = points.reduce((sum, [x]) => sum + x, 0) / points.length;
  const meanY = points.reduce((sum, [, y]) => sum + y, 0) / points.length;
  const covariance = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0);
  return covariance / points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
}
