import type { AddCost } from "./bounded-pattern.ts";

/** The cost of a division of decimals, in about nanoseconds. */
const nsOfDivision = 1_500;

/** Up to this power, a double holds the power of ten exactly. */
const maxExactPower = 22;
/** Up to this quotient, the rounded quotient of two doubles is the only one that can be exact. */
const maxExactQuotient = 2 ** 50;

/** Digits times a power of ten. */
interface Decimal {
  readonly digits: bigint;
  readonly exponent: number;
}

/**
 * Whether a number is a multiple of the divisor. Both were decimals before they became doubles, so the decimals are compared: 19.99 is a
 * multiple of 0.01, and the quotient of their doubles is 1998.9999999999998. A number that has more digits than a double is a multiple if
 * one of the decimals that are read as the same double is.
 */
export function multipleOf(divisor: number, addCost: AddCost): (value: number) => boolean {
  const size = Math.abs(divisor);
  if (!Number.isFinite(size) || size === 0) {
    return () => false;
  }
  const decimal = decimalOf(size);
  const scale = decimal.exponent < 0 ? 10 ** -decimal.exponent : 1;
  const unit = scale === 1 ? size : Number(decimal.digits);
  const isExact = Number.isSafeInteger(unit) && -decimal.exponent <= maxExactPower;
  return (value) => {
    const wanted = Math.abs(value);
    const quotient = wanted / size;
    const multiple = Math.round(quotient) * unit;
    if (isExact && quotient <= maxExactQuotient && multiple <= Number.MAX_SAFE_INTEGER) {
      return multiple / scale === wanted; // both are exact, so their quotient is the double that the decimal is read as
    }
    if (quotient >= 2 ** 53) {
      return true; // a multiple is nearer than the next double
    }
    if (quotient < 0.5) {
      return wanted === 0;
    }
    addCost(nsOfDivision);
    return isReadFromMultiple(wanted, decimal);
  };
}

/** Whether a multiple of the divisor is read as this double. The quotient is below 2^53, so no number here has more than 40 digits. */
function isReadFromMultiple(value: number, { digits, exponent }: Decimal): boolean {
  const dividend = decimalOf(value);
  const common = Math.min(dividend.exponent, exponent);
  const floor = scaled(dividend, common) / scaled({ digits, exponent }, common);
  return [floor, floor + 1n].some((times) => Number(`${times * digits}e${exponent}`) === value);
}

function scaled({ digits, exponent }: Decimal, to: number): bigint {
  return digits * 10n ** BigInt(exponent - to);
}

/** The shortest decimal that is read as this double. */
function decimalOf(value: number): Decimal {
  const [mantissa = "", exponent] = value.toExponential().split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
}
