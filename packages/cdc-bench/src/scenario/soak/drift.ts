/** How a figure changed in the course of a run. */
export interface Drift {
  /** Means of the first and of the last third. */
  readonly first: number;
  readonly last: number;
  /** Of the last third against the first, in percent of the first. */
  readonly changePercent: number;
  /** Least squares, an hour. */
  readonly slopePerHour: number;
  /** Half of the 95% interval of the slope, widened for windows that resemble their neighbours. */
  readonly slopeErrorPerHour: number;
  /** `steady`: the interval holds zero, or the change is below 5%. `too-short`: there are not enough windows to tell. */
  readonly verdict: "steady" | "rises" | "falls" | "too-short";
}

const fewestWindows = 30;
const smallestChangePercent = 5;
const msPerHour = 3_600_000;
/** Of the normal distribution: there are at least thirty windows. */
const intervalFactor = 1.96;
/** Neighbours that are equal would make the interval endless. */
const maxCorrelation = 0.95;

/** @param points windows in their order; those without a value are left out before. Null if there are fewer than three */
export function driftOf(points: readonly (readonly [atMs: number, value: number])[]): Drift | null {
  const third = Math.floor(points.length / 3);
  if (third === 0) {
    return null;
  }
  const first = meanOf(points.slice(0, third).map(([, value]) => value));
  const last = meanOf(points.slice(-third).map(([, value]) => value));
  const { slope, error } = lineThrough(points);
  const changePercent = first === 0 ? 0 : ((last - first) / first) * 100;
  const isCertain =
    Math.abs(slope) > error && Math.abs(changePercent) >= smallestChangePercent && Math.sign(slope) === Math.sign(last - first);
  return {
    first,
    last,
    changePercent,
    slopePerHour: slope * msPerHour,
    slopeErrorPerHour: error * msPerHour,
    verdict: points.length < fewestWindows ? "too-short" : !isCertain ? "steady" : slope > 0 ? "rises" : "falls",
  };
}

function lineThrough(points: readonly (readonly [number, number])[]): { readonly slope: number; readonly error: number } {
  const meanX = meanOf(points.map(([x]) => x));
  const meanY = meanOf(points.map(([, y]) => y));
  const spread = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  const slope = spread === 0 ? 0 : points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0) / spread;
  const residuals = points.map(([x, y]) => y - meanY - slope * (x - meanX));
  const squares = residuals.reduce((sum, residual) => sum + residual ** 2, 0);
  const neighbours = residuals.slice(1).reduce((sum, residual, i) => sum + residual * (residuals[i] ?? 0), 0);
  const correlation = squares === 0 ? 0 : Math.min(maxCorrelation, Math.max(0, neighbours / squares));
  const standardError = spread === 0 ? 0 : Math.sqrt(squares / Math.max(1, points.length - 2) / spread);
  return { slope, error: intervalFactor * standardError * Math.sqrt((1 + correlation) / (1 - correlation)) };
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
