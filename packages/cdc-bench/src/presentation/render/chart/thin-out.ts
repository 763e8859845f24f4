import type { Series } from "../../document.ts";

type Point = Series["points"][number];

/**
 * At most four points for each of so many places: the first, the lowest, the highest and the last, in their order. A peak that lasted for one
 * point is still there.
 */
export function thinOut(points: readonly Point[], places: number): readonly Point[] {
  if (points.length <= places * 2) {
    return points;
  }
  return Array.from({ length: places }, (_, place) => {
    const bucket = points.slice(Math.floor((place * points.length) / places), Math.floor(((place + 1) * points.length) / places));
    const low = bucket.reduce((best, point) => (point[1] < best[1] ? point : best), bucket[0] ?? [0, 0]);
    const high = bucket.reduce((best, point) => (point[1] > best[1] ? point : best), bucket[0] ?? [0, 0]);
    const kept = new Set([bucket[0], low, high, bucket.at(-1)]);
    return bucket.filter((point) => kept.has(point));
  }).flat();
}
