import { isInt64, maxInt64, minInt64 } from "../../values/wide-integer.ts";

/** The range of an integer with a number of bits. */
export interface IntegerRange {
  readonly bits: number;
  readonly min: number | bigint;
  readonly max: number | bigint;
}

/** The range of a signed integer. */
export function rangeOf(bits: 8 | 16 | 32 | 64): IntegerRange {
  return bits === 64 ? { bits, min: minInt64, max: maxInt64 } : { bits, min: -(2 ** (bits - 1)), max: 2 ** (bits - 1) - 1 };
}

/** Whether an integer has at most 64 bits. A number that is exact always has. */
export function isLong(value: number | bigint): boolean {
  return typeof value === "number" || isInt64(value);
}
