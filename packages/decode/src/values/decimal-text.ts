import { integerText, pointedText } from "./digits.ts";

/** Decimals as text: exact, with exactly as many fraction digits as the scale says. */

/**
 * The limits of the scale: PostgreSQL's numeric goes up to 16,383 and Oracle's NUMBER down to -84. A scale takes a few bytes but asks for
 * as many zeros as it says, so it needs a limit.
 */
export const maxScale = 16_383;
export const minScale = -1_000;

/** Shared, so that padded texts refer to these zeros and do not hold their own. */
const zeros = "0".repeat(maxScale - minScale);

/** The largest scale for which a double holds 10^scale and all integers below it exactly. */
const maxSmallScale = 15;
const powers: readonly number[] = Array.from({ length: maxSmallScale + 1 }, (_, n) => 10 ** n);

const zeroTexts: readonly string[] = powers.map((_, scale) => (scale === 0 ? "0" : `0.${"0".repeat(scale)}`));

/** Whether a scale is an integer within bounds. */
export function isScale(scale: unknown): scale is number {
  return typeof scale === "number" && Number.isInteger(scale) && scale >= minScale && scale <= maxScale;
}

/** The text of an unscaled value that a double holds exactly. */
export function smallDecimalText(unscaled: number, scale: number): string {
  if (unscaled === 0 && scale >= 0 && scale <= maxSmallScale) {
    return zeroTexts[scale] as string; // zero is common: discounts, balances, defaults
  }
  if (unscaled < 0) {
    return `-${smallDecimalText(-unscaled, scale)}`;
  }
  if (scale === 0) {
    return integerText(unscaled);
  }
  if (scale < 0 || scale > maxSmallScale) {
    return placePoint(integerText(unscaled), scale);
  }
  const power = powers[scale] as number;
  const whole = Math.floor(unscaled / power);
  return integerText(whole) + pointedText(unscaled - whole * power, scale);
}

/** The text of any unscaled value. */
export function decimalText(unscaled: bigint, scale: number): string {
  return unscaled < 0n ? `-${placePoint(digitsOf(-unscaled), scale)}` : placePoint(digitsOf(unscaled), scale);
}

/**
 * The decimal digits of a bigint. The runtime needs quadratic time to make digits, so a very large number is split into four parts, which
 * takes half of that time. Smaller parts would cost more in divisions than they save.
 */
function digitsOf(value: bigint): string {
  if (value < tenTo300) {
    return value.toString();
  }
  const [power, width] = value < tenTo500 ? [tenTo250, 250] : [tenTo500, 500];
  const high = value / power;
  return digitsOf(high) + digitsOf(value - high * power).padStart(width, "0");
}

const tenTo250 = 10n ** 250n;
const tenTo300 = 10n ** 300n;
const tenTo500 = 10n ** 500n;

/** Digits without a sign, with the decimal point in the place that the scale gives. */
export function placePoint(digits: string, scale: number): string {
  if (scale <= 0) {
    return digits === "0" ? digits : digits + zeros.slice(0, -scale);
  }
  const wholeDigits = digits.length - scale;
  return wholeDigits > 0 ? `${digits.slice(0, wholeDigits)}.${digits.slice(wholeDigits)}` : `0.${zeros.slice(0, -wholeDigits)}${digits}`;
}

/** A decimal as its digits; `digits` has no leading zeros. */
export interface ParsedDecimal {
  readonly isNegative: boolean;
  readonly digits: string;
  readonly scale: number;
}

const decimalPattern = /^([+-]?)(\d+)(?:\.(\d*))?(?:[eE]([+-]?\d{1,9}))?$/;

/** Parses decimal text in any notation; null if it is not a decimal, or if its scale is out of bounds. */
export function parseDecimal(text: string): ParsedDecimal | null {
  const fields = decimalPattern.exec(text);
  if (fields === null) {
    return null;
  }
  const fraction = fields[3] ?? "";
  const digits = ((fields[2] as string) + fraction).replace(/^0+(?=\d)/, ""); // the pattern has at least one digit
  const scale = fraction.length - Number(fields[4] ?? 0);
  return isScale(scale) ? { isNegative: fields[1] === "-" && digits !== "0", digits, scale } : null;
}

/** The same number with another scale; null if digits would be lost. */
export function rescale(decimal: ParsedDecimal, scale: number): ParsedDecimal | null {
  const added = scale - decimal.scale;
  if (added >= 0) {
    return { ...decimal, digits: decimal.digits === "0" ? "0" : decimal.digits + zeros.slice(0, added), scale };
  }
  const kept = decimal.digits.slice(0, added);
  return /^0*$/.test(decimal.digits.slice(added)) ? { ...decimal, digits: kept === "" ? "0" : kept, scale } : null;
}
