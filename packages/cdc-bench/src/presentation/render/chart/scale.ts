import type { Axis } from "../../document.ts";

/** Where a value stands on an axis, and which values are named there. */
export interface Scale {
  /** 0 at the axis' beginning, 1 at its end; values outside of the domain stand at its ends. */
  readonly place: (value: number) => number;
  /** Rising, inside of the domain. */
  readonly ticks: readonly number[];
}

/** No figure is larger, and what is smaller is nothing: sums and quotients of such numbers stay finite. */
const largest = 1e18;
const smallest = 1e-12;
/** Ticks are never closer than this part of what they name: beyond it, numbers have no digits left. */
const smallestPart = 1e-9;

/** A percentile of 100 would stand infinitely far away. */
const maxPercentile = 99.9999;

/**
 * The scale for values on an axis. A linear one of amounts begins at 0; a logarithmic one has no place for 0, so that smaller values stand at
 * its beginning.
 */
export function createScale(values: readonly number[], scale: Axis["scale"], fromZero: boolean, maxTicks: number): Scale {
  const finite = values.filter((value) => Number.isFinite(value)).map(bounded);
  switch (scale) {
    case "log":
      return logScale(
        finite.filter((value) => value > 0),
        maxTicks,
      );
    case "percentile":
      return percentileScale(finite, maxTicks);
    case "linear":
    case undefined:
      return linearScale(finite, fromZero, maxTicks);
  }
}

function linearScale(values: readonly number[], fromZero: boolean, maxTicks: number): Scale {
  const [low, high] = widened(extent(fromZero ? [0, ...values] : values));
  const size = niceSize((high - low) / maxTicks);
  const from = fromZero ? Math.floor(low / size) * size : low;
  const to = fromZero ? Math.ceil(high / size) * size : high;
  const first = Math.ceil(from / size);
  const ticks = Array.from({ length: Math.floor(to / size + 1e-9) - first + 1 }, (_, i) => (first + i) * size);
  return { place: (value) => clamp((value - from) / (to - from)), ticks };
}

/** Room for values that are all the same, or differ in digits that numbers no longer have. */
function widened([low, high]: readonly [number, number]): readonly [number, number] {
  const size = Math.max(Math.abs(low), Math.abs(high));
  return high - low > size * smallestPart ? [low, high] : [low - (size || 1) / 2, high + (size || 1) / 2];
}

function logScale(values: readonly number[], maxTicks: number): Scale {
  const [low, high] = extent(values);
  const from = Math.floor(Math.log10(low > 0 ? low : 1));
  const to = Math.max(from + 1, Math.ceil(Math.log10(high > 0 ? high : 1)));
  const between = (to - from) * 3 <= maxTicks ? [1, 2, 5] : [1];
  const every = Math.max(1, Math.ceil((to - from) / maxTicks));
  const decades = Array.from({ length: to - from + 1 }, (_, i) => from + i).filter((decade) => (decade - from) % every === 0);
  const ticks = decades.flatMap((decade) => between.map((part) => part * 10 ** decade)).filter((tick) => tick <= 10 ** to * 1.000001);
  return { place: (value) => clamp((Math.log10(Math.max(value, 10 ** from)) - from) / (to - from)), ticks };
}

/** The upper end is spread as HdrHistogram's plots do it: from 90 to 99 is as far as from 99 to 99.9. */
function percentileScale(values: readonly number[], maxTicks: number): Scale {
  const spread = (percentile: number): number => -Math.log10(1 - Math.min(Math.max(percentile, 0), maxPercentile) / 100);
  const end = spread(Math.max(90, ...extent(values)));
  const named = [0, 50, 90, 99, 99.9, 99.99, 99.999].filter((percentile) => spread(percentile) <= end + 1e-9);
  return { place: (value) => clamp(spread(value) / end), ticks: named.slice(0, Math.max(2, maxTicks)) };
}

function extent(values: readonly number[]): readonly [low: number, high: number] {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return low > high ? [0, 1] : [low, high];
}

/** 1, 2 or 5 times a power of ten: the next that is not below. */
function niceSize(size: number): number {
  const power = 10 ** Math.floor(Math.log10(size));
  return ([1, 2, 5, 10].find((factor) => factor * power >= size * 0.999999) ?? 10) * power;
}

function bounded(value: number): number {
  return Math.abs(value) < smallest ? 0 : Math.min(largest, Math.max(-largest, value));
}

function clamp(place: number): number {
  return Number.isFinite(place) ? Math.min(1, Math.max(0, place)) : 0;
}
