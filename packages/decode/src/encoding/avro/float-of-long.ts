/** Bits of a float's significand. */
const significandBits = 24;

/**
 * A long as the nearest float, ties to even, as Java's cast has it. By way of a double it would be rounded twice, and what the first
 * rounding makes a tie may end in another float.
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
