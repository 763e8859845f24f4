/** What an integer of so many bits holds. */
export interface IntegerRange {
  readonly bits: number;
  readonly least: number | bigint;
  readonly most: number | bigint;
}

const leastLong = -(2n ** 63n);
const mostLong = 2n ** 63n - 1n;

/** The range of a signed integer. */
export function rangeOf(bits: 8 | 16 | 32 | 64): IntegerRange {
  return bits === 64 ? { bits, least: leastLong, most: mostLong } : { bits, least: -(2 ** (bits - 1)), most: 2 ** (bits - 1) - 1 };
}

/** Whether an integer is one of 64 bits: a number always is, where it is exact. */
export function isLong(value: number | bigint): boolean {
  return typeof value === "number" || (value >= leastLong && value <= mostLong);
}
