/** A ratio of two things measured in the same rounds. */
export interface RatioInterval {
  /** Geometric mean of the ratios of the rounds. */
  readonly ratio: number;
  /** The ends of its 95% interval; both the ratio itself if there is only one round. */
  readonly low: number;
  readonly high: number;
  /** Half of the interval: what stands behind ±. */
  readonly plusMinus: number;
  readonly rounds: number;
}

/**
 * The ratio of `a` to `b`, round by round, with the 95% interval of Student's t over the logarithms of the ratios: a ratio and its inverse
 * are treated the same. Both need as many values as the other, all above 0.
 */
export function ratioInterval(a: readonly number[], b: readonly number[]): RatioInterval {
  const logs = a.map((value, round) => Math.log(value / (b[round] ?? Number.NaN)));
  const mean = meanOf(logs);
  const ratio = Math.exp(mean);
  if (logs.length < 2) {
    return { ratio, low: ratio, high: ratio, plusMinus: 0, rounds: logs.length };
  }
  const halfWidth = (tQuantile(logs.length - 1) * deviationOf(logs)) / Math.sqrt(logs.length);
  const [low, high] = [Math.exp(mean - halfWidth), Math.exp(mean + halfWidth)];
  return { ratio, low, high, plusMinus: (high - low) / 2, rounds: logs.length };
}

/** Whether the interval leaves open which of the two is larger. */
export function isUndecided({ low, high, rounds }: RatioInterval): boolean {
  return rounds < 2 || (low <= 1 && high >= 1);
}

/** How much values differ from each other: the standard deviation as a part of the mean. 0 for fewer than two. */
export function variationOf(values: readonly number[]): number {
  return values.length < 2 ? 0 : deviationOf(values) / meanOf(values);
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function deviationOf(values: readonly number[]): number {
  const mean = meanOf(values);
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1));
}

/** The 97.5th percentile of Student's t, by degrees of freedom from 1. */
const tTable = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131, 2.12, 2.11, 2.101, 2.093, 2.086,
  2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042,
];

function tQuantile(degrees: number): number {
  const normal = 1.959964;
  return tTable[degrees - 1] ?? normal + (normal ** 3 + normal) / (4 * degrees);
}
