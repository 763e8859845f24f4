import { losesUnits } from "./interval-units.ts";

/** Integers of a column are at least minus this, and less than this. */
export const integerBounds: ReadonlyMap<string, number> = new Map([
  ["smallint", 2 ** 15],
  ["integer", 2 ** 31],
  ["bigint", 2 ** 63],
]);

/** Whether a column of this type takes a value, if it is a number: columns of integers refuse fractions, and integers that are too large. */
export function holdsNumber(type: string, value: unknown): boolean {
  if (typeof value !== "number" && typeof value !== "bigint") {
    return true;
  }
  const bound = integerBounds.get(type);
  if (bound === undefined) {
    return !isFloat(type) || keepsNumber(type, value);
  }
  return (typeof value === "bigint" || Number.isInteger(value)) && value >= -bound && value < bound;
}

/** What is asked of a column about a value. Null, and nothing, say that there is no such bound. */
interface Bounds {
  readonly type: string;
  /** In characters. */
  readonly maxLength?: number | null;
  readonly maxScale?: number | null;
  readonly maxWhole?: number | null;
  readonly keptUnits?: number | null;
}

/**
 * Whether a column takes a value as it is, as far as its range, its length and its scale say. PostgreSQL would round the digits that a float, or a
 * `numeric(10,2)`, does not keep, and cut the time of day off for a date, without a word.
 */
export function holdsValue(
  { type, maxLength = null, maxScale = null, maxWhole = null, keptUnits = null }: Bounds,
  value: unknown,
): boolean {
  if (Array.isArray(value)) {
    const items = { type: itemType(type), maxScale, maxWhole, keptUnits };
    return value.every((item) => holdsValue(items, item));
  }
  if ((maxScale !== null && scaleOf(secondsOf(type, value)) > maxScale) || (maxWhole !== null && wholeDigitsOf(value) > maxWhole)) {
    return false;
  }
  if (keptUnits !== null && losesUnits(keptUnits, value)) {
    return false;
  }
  if (typeof value === "string") {
    return (
      holdsLength(maxLength, value) &&
      holdsBytes(type, value) &&
      !(type === "date" && hasTimeOfDay(value)) &&
      !(isFloat(type) && !keepsDigits(type, value))
    );
  }
  const own = type === "date" && typeof value === "object" ? ownText(value) : undefined;
  return typeof own === "string" ? !hasTimeOfDay(own) : holdsNumber(type, value);
}

/** How many digits after the point a decimal, or a time, has, without zeros at the end. */
function scaleOf(value: unknown): number {
  const text = typeof value === "number" ? String(value) : typeof value === "object" ? ownText(value) : value;
  if (typeof text !== "string") {
    return 0;
  }
  const digits = withoutLastZeros(/\.(\d+)/.exec(text)?.[1] ?? "");
  const exponent = /^[+-]?[\d.]+e([+-]?\d+)$/i.exec(text)?.[1] ?? 0;
  return Math.max(0, digits.length - Number(exponent));
}

/** How many digits a number has before the point. */
function wholeDigitsOf(value: unknown): number {
  const text = String(typeof value === "number" || typeof value === "bigint" ? value : typeof value === "string" ? value : 0);
  const [, digits = "", exponent] = /^[+-]?0*([1-9]\d*)?(?:\.\d*)?(e[+-]?\d+)?$/i.exec(text) ?? [];
  return exponent === undefined ? digits.length : Math.floor(Math.log10(Math.abs(Number(text)))) + 1;
}

function ownText(value: object | null): unknown {
  return (value as { toJSON?: () => unknown } | null)?.toJSON?.();
}

function holdsLength(maxLength: number | null, text: string): boolean {
  // UTF-16 has one unit or two for a character.
  return maxLength === null || text.length <= maxLength || [...text].length <= maxLength;
}

/** Types of PostgreSQL's own that cut a text off in silence, by the bytes that they keep. */
const keptBytes: ReadonlyMap<string, number> = new Map([
  ["name", 63],
  ['"char"', 1],
]);

function holdsBytes(type: string, text: string): boolean {
  const kept = keptBytes.get(type);
  return kept === undefined || Buffer.byteLength(text) <= kept;
}

/** Whether a text has spaces, and nothing else, after as many characters as its column keeps. PostgreSQL refuses every other text that is too long. */
export function losesSpaces(keptLength: number | null, value: unknown): boolean {
  return (
    typeof value === "string" && keptLength !== null && value.length > keptLength && /^ +$/.test([...value].slice(keptLength).join(""))
  );
}

/**
 * Of a value in a column of intervals its seconds, as a text: a number is in microseconds. A tenth of every longer unit is whole seconds, so that
 * `PT1.5H` has no digits of them.
 */
function secondsOf(type: string, value: unknown): unknown {
  if (type !== "interval") {
    return value;
  }
  if (typeof value === "string") {
    const [, digits = "", unit = ""] = /\.(\d+)\s*([a-z]?)/i.exec(value) ?? [];
    return `0.${/[ymwdh]/i.test(unit) ? digits.slice(1) : digits}`;
  }
  return typeof value === "bigint" || Number.isSafeInteger(value)
    ? `0.${String(BigInt(value as bigint | number) % 1_000_000n)
        .replace("-", "")
        .padStart(6, "0")}`
    : value;
}

function hasTimeOfDay(text: string): boolean {
  return /[T ]\d\d:/.test(text) && !/[T ]00:00(:00(\.0+)?)?(?![\d.:])/.test(text);
}

/** Whether a float of this type stands for the same number. Those of the source have the digits of a single, or of a double, and a bigint any. */
function keepsNumber(type: string, value: number | bigint): boolean {
  const near = Number(value);
  // A writer may have filled the digits after the 17th with zeros.
  if (typeof value === "bigint" && BigInt(near) !== value && digitsOf(String(near)) !== digitsOf(String(value))) {
    return false;
  }
  return type !== "real" || !Number.isFinite(near) || isSingle(near);
}

/** Whether a decimal comes back from a float of this type with the digits that it had. What is no decimal is left to PostgreSQL. */
function keepsDigits(type: string, text: string): boolean {
  const near = Number(text);
  return !Number.isFinite(near) || (digitsOf(text) === digitsOf(String(near)) && (type !== "real" || isSingle(near)));
}

/** Whether a number is a float of 32 bits, or the decimal that one is written as. */
function isSingle(value: number): boolean {
  const single = Math.fround(value);
  return single === value || (Number.isFinite(single) && [6, 7, 8, 9].some((digits) => Number(single.toPrecision(digits)) === value));
}

/** The digits of a decimal from its first to its last that is not zero. Two decimals with the same digits and about the same size are equal. */
function digitsOf(text: string): string {
  const digits = text.replace(/[eE].*$/, "").replace(/[^\d]/g, "");
  return withoutLastZeros(digits.replace(/^0+/, ""));
}

/** Not by an expression: it would take quadratic time for many zeros in front of another digit. */
function withoutLastZeros(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === "0") {
    end--;
  }
  return digits.slice(0, end);
}

/** What a text must look like for a column of this type. Types that are not here read many forms. */
const textForms: readonly (readonly [types: RegExp, form: RegExp, name: string])[] = [
  [/^(smallint|integer|bigint)$/, /^\s*[+-]?(\d[\d_]*|0[xX][\da-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+)\s*$/, "integer"],
  [/^(numeric|real|double precision)$/, /^\s*[+-]?(\d[\d_]*(\.[\d_]*)?|\.\d[\d_]*)([eE][+-]?\d+)?\s*$|nan|inf/i, "number"],
  [/^boolean$/, /^\s*(t|tr|tru|true|f|fa|fal|fals|false|y|ye|yes|n|no|on|of|off|[01])\s*$/i, "boolean"],
  [/^uuid$/, /^\s*\{?([\da-f]{4}-?){7}[\da-f]{4}\}?\s*$/i, "UUID"],
];

/** What a text is not, although a column of this type needs it: `integer`. Null if it is, or if that cannot be said. */
export function missingForm(type: string, value: unknown): string | null {
  if (isJson(type)) {
    return typeof value === "string" && !isJsonText(value) ? "JSON" : null;
  }
  const [, form, name] = textForms.find(([types]) => types.test(type)) ?? [];
  return typeof value === "string" && form !== undefined && name !== undefined && !form.test(value) ? name : null;
}

/** Whether a column of this type has JSON. */
export function isJson(type: string): boolean {
  return type === "json" || type === "jsonb";
}

function isJsonText(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Whether a column of this type has floats. */
export function isFloat(type: string): boolean {
  return type === "real" || type === "double precision";
}

/** The type of the items of an array; the type itself if it is no array. */
export function itemType(type: string): string {
  return type.endsWith("[]") ? type.slice(0, -2) : type;
}
