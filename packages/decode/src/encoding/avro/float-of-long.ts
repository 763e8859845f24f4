/** The number of bits in a float's significand. */
const significandBits = 24;

/**
 * Rounds a long to the nearest float, ties to even, as Java's cast does. `Math.fround(Number(value))` would round twice: if the first
 * rounding makes a tie, the second can end in another float.
 */
export function floatOfLong(value: number | bigint): number {
  if (typeof value === "number") {
    return Math.fround(value);
  }
  const magnitude = value < 0n ? -value : value;
  const excess = BigInt(Math.max(0, magnitude.toString(2).length - significandBits));
  const kept = magnitude >> excess;
  const rest = (magnitude - (kept << excess)) * 2n;
  const unit = 1n << excess;
  const isUp = rest > unit || (rest === unit && (kept & 1n) === 1n);
  const rounded = Number((isUp ? kept + 1n : kept) << excess);
  return value < 0n ? -rounded : rounded;
}
