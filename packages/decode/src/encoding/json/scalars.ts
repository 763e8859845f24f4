/** What a parsed JSON scalar is as a value of a type, or the error that says why it is none. */
import { DecodeError } from "../../errors.ts";
import { parseDecimal, rescale } from "../../values/decimal-text.ts";
import { base64Length, decodeBase64 } from "./base64.ts";
import { NumberText } from "./parse.ts";

/** Throws the error for a value that its schema does not allow. */
export function mismatch(expected: string): never {
  throw new DecodeError(
    "value-invalid",
    `expected ${expected} as its schema declares, found another kind of JSON value; check whether the message was written with another schema`,
  );
}

/** A short exponent can make many digits. No column of integers has more digits than this. */
const maxExponentDigits = 40;

/**
 * The integer that a number with a point or an exponent is: some writers write 1.0 or 1e3, which JSON Schema allows. Null if it has a
 * fraction or too many digits.
 */
export function wholeNumber(text: string): number | bigint | null {
  const double = Number(text);
  // A double holds all digits of so short a text. It rounds numbers near zero to 0, so 0 is left to the exact way below.
  if (text.length <= 15 && double !== 0 && Number.isSafeInteger(double)) {
    return double;
  }
  const parsed = Math.abs(double) < 10 ** maxExponentDigits ? parseDecimal(text) : null;
  const whole = parsed === null ? null : rescale(parsed, 0);
  if (whole === null) {
    return null;
  }
  const value = BigInt(whole.isNegative ? `-${whole.digits}` : whole.digits);
  return Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

const nonFinite: Readonly<Record<string, number>> = {
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  "-Infinity": Number.NEGATIVE_INFINITY,
};

export function asDouble(value: unknown): number {
  if (typeof value === "number" || typeof value === "bigint") {
    return Number(value);
  }
  if (value instanceof NumberText) {
    return finite(value.text);
  }
  // What Jackson writes for the doubles that JSON has no number for.
  const named = typeof value === "string" && Object.hasOwn(nonFinite, value) ? nonFinite[value] : undefined;
  return named ?? mismatch("a number");
}

export function finite(text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value)) {
    throw new DecodeError("value-invalid", "expected a number in a double's range, found one out of this range");
  }
  return value;
}

export function fromBase64(text: string): Buffer {
  const source = Buffer.from(text, "latin1");
  const length = base64Length(source, 0, source.length);
  const target = Buffer.allocUnsafe(Math.max(length, 0));
  if (source.length !== text.length || length < 0 || !decodeBase64(source, 0, target, length)) {
    throw new DecodeError("value-invalid", "expected base64 text, found characters or padding that are not valid base64");
  }
  return target;
}
