/**
 * Decimal digits as text, from tables. `String(n).padStart(...)` costs more than all the code around it. The tables are not frozen: V8 reads a
 * frozen array by a call, which takes a sixth of the time of a decimal.
 */

const tripled: readonly string[] = Array.from({ length: 1000 }, (_, n) => String(n).padStart(3, "0"));
const doubled: readonly string[] = Array.from({ length: 100 }, (_, n) => String(n).padStart(2, "0"));
const pointed: readonly string[] = doubled.map((digits) => `.${digits}`);
const plain: readonly string[] = Array.from({ length: 1000 }, (_, n) => String(n));

/** Two digits of an integer from 0 to 99. */
export function twoDigits(value: number): string {
  return doubled[value] as string; // every caller passes a value below 100
}

/** The digits of an integer from 0 to 2^53, without leading zeros. */
export function integerText(value: number): string {
  if (value < 1000) {
    return plain[value] as string;
  }
  if (value < 1_000_000) {
    const thousands = (value / 1000) | 0;
    return (plain[thousands] as string) + (tripled[value - thousands * 1000] as string);
  }
  const millions = Math.floor(value / 1_000_000);
  const rest = value - millions * 1_000_000;
  const thousands = (rest / 1000) | 0;
  return integerText(millions) + ((tripled[thousands] as string) + (tripled[rest - thousands * 1000] as string));
}

/** Exactly `width` digits (1 to 15) of an integer below 10^width. */
export function paddedText(value: number, width: number): string {
  switch (width) {
    case 1:
      return plain[value] as string;
    case 2:
      return doubled[value] as string;
    case 3:
      return tripled[value] as string;
    default: {
      const high = Math.floor(value / 1000);
      return paddedText(high, width - 3) + (tripled[value - high * 1000] as string);
    }
  }
}

/** A decimal point and exactly `width` digits. Two digits, as in money, are the most common case, followed by four and six. */
export function pointedText(value: number, width: number): string {
  switch (width) {
    case 2:
      return pointed[value] as string;
    case 4:
      return (pointedFour ??= fourPointedDigits())[value] as string;
    case 6: {
      const high = (value / 100) | 0;
      return ((pointedFour ??= fourPointedDigits())[high] as string) + (doubled[value - high * 100] as string);
    }
    default:
      return `.${paddedText(value, width)}`;
  }
}

/** Made for the first fraction of four digits, because many processes never see one. */
let pointedFour: readonly string[] | null = null;

function fourPointedDigits(): readonly string[] {
  return Array.from({ length: 10_000 }, (_, n) => `.${String(n).padStart(4, "0")}`);
}

/** A fraction of `width` digits with its point and without trailing zeros; the empty text for zero. */
export function fractionText(value: number, width: number): string {
  if (value === 0) {
    return "";
  }
  let rest = value;
  let digits = width;
  while (rest % 10 === 0) {
    rest /= 10;
    digits--;
  }
  return pointedText(rest, digits);
}
