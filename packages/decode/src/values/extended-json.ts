import type { ResolvedValueOptions } from "../options.ts";
import { setProperty } from "../set-property.ts";
import type { Conversion } from "./conversion.ts";
import { decimalConversion } from "./decimal.ts";
import { parseDecimal } from "./decimal-text.ts";
import { instantConversion } from "./timestamp.ts";
import { uuidText } from "./uuid.ts";
import { isInt64 } from "./wide-integer.ts";

/**
 * Converts MongoDB Extended JSON: version 2, canonical or relaxed, and the forms of version 1 that are still in use. A value without a JSON
 * type is an object with one or two names that begin with a dollar sign. An object that only looks like that stays as it is, because
 * documents may have such fields too.
 */
export function extendedJson(value: unknown, options: ResolvedValueOptions): unknown {
  return converted(value, readersOf(options));
}

/** Reads one kind of wrapper. Returns {@link notExtended} if its content does not fit that kind. */
type ReadWrapper = (content: unknown, wrapper: Readonly<Record<string, unknown>>) => unknown;

type Readers = ReadonlyMap<string, ReadWrapper>;

const notExtended: unique symbol = Symbol("not extended JSON");

const readersByOptions = new WeakMap<ResolvedValueOptions, Readers>();

function readersOf(options: ResolvedValueOptions): Readers {
  let readers = readersByOptions.get(options);
  if (readers === undefined) {
    readers = compileReaders(options);
    readersByOptions.set(options, readers);
  }
  return readers;
}

function converted(value: unknown, readers: Readers): unknown {
  if (typeof value !== "object" || value === null) {
    return value;
  }
  if (Array.isArray(value)) {
    return value.map((item) => converted(item, readers));
  }
  if (!isPlain(value)) {
    return value;
  }
  const names = Object.keys(value);
  const first = names[0];
  if (first !== undefined && names.length <= 2 && first.startsWith("$")) {
    const read = readers.get(first);
    const result = read === undefined ? notExtended : read(value[first], value);
    if (result !== notExtended) {
      return result;
    }
  }
  const fields: Record<string, unknown> = {};
  for (const name of names) {
    setProperty(fields, name, converted(value[name], readers));
  }
  return fields;
}

function compileReaders(options: ResolvedValueOptions): Readers {
  const long = int64Reader(options);
  const date = dateReader(options);
  const decimal = decimalReader(options);
  const only =
    (read: (content: unknown) => unknown): ReadWrapper =>
    (content, wrapper) =>
      Object.keys(wrapper).length === 1 ? read(content) : notExtended;
  const readers: Readers = new Map<string, ReadWrapper>([
    ["$oid", only((content) => (isText(content, /^[0-9a-fA-F]{24}$/) ? content.toLowerCase() : notExtended))],
    ["$numberInt", only((content) => (isInteger(content) && Number.isSafeInteger(Number(content)) ? Number(content) : notExtended))],
    ["$numberLong", only((content) => (isInteger(content) ? long(BigInt(content)) : notExtended))],
    ["$numberDouble", only(doubleOf)],
    ["$numberDecimal", only((content) => (isText(content, decimalPattern) ? decimal(content) : notExtended))],
    ["$date", only(date)],
    ["$uuid", only((content) => (isText(content, uuidPattern) ? content.toLowerCase() : notExtended))],
    ["$timestamp", only(timestampOf)],
    ["$regularExpression", only(regularExpressionOf)],
    ["$symbol", only((content) => (typeof content === "string" ? content : notExtended))],
    ["$undefined", only((content) => (content === true ? null : notExtended))],
    ["$binary", binaryOf],
    ["$type", (_, wrapper) => binaryOf(wrapper["$binary"], wrapper)],
    ["$regex", legacyRegularExpressionOf],
    ["$code", (content, wrapper) => codeOf(content, wrapper, (scope) => converted(scope, readers))],
  ]);
  return readers;
}

/** Converts an int64 to the form that the options ask for. The option covers all forms in which an int64 arrives. */
function int64Reader({ int64 }: ResolvedValueOptions): (value: bigint) => unknown {
  switch (int64) {
    case "bigint":
      return (value) => value;
    case "string":
      return String;
    case "safe":
      return (value) => (BigInt(Number.MAX_SAFE_INTEGER) >= value && value >= BigInt(Number.MIN_SAFE_INTEGER) ? Number(value) : value);
  }
}

/** Converts a Decimal128. Its exponents can be outside of the scales of SQL. Such a number keeps its notation. */
function decimalReader(options: ResolvedValueOptions): (text: string) => unknown {
  const { text: convert } = decimalConversion("$numberDecimal", null, options);
  return (text) => {
    const isFar = /[eE]/.test(text) && parseDecimal(text) === null;
    return isFar ? (options.decimal === "number" ? Number(text) : text) : convert?.(text);
  };
}

/** Converts an instant in milliseconds: a long, or ISO text within the years that `Date` prints with four digits. */
function dateReader(options: ResolvedValueOptions): (content: unknown) => unknown {
  const { int, bigint }: Conversion = instantConversion(1_000, options);
  return (content) => {
    const millis = millisOf(content);
    if (millis === null) {
      return notExtended;
    }
    const isSafe = BigInt(Number.MAX_SAFE_INTEGER) >= millis && millis >= BigInt(Number.MIN_SAFE_INTEGER);
    if (options.time === "raw") {
      return isSafe ? Number(millis) : millis;
    }
    return isSafe ? int?.(Number(millis)) : bigint?.(millis);
  };
}

function millisOf(content: unknown): bigint | null {
  if (isText(content, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)$/)) {
    const millis = Date.parse(content);
    return Number.isNaN(millis) ? null : BigInt(millis);
  }
  const long = isPlain(content) && Object.keys(content).length === 1 ? content["$numberLong"] : content;
  const millis = isInteger(long) ? BigInt(long) : null;
  return millis === null || isInt64(millis) ? millis : null;
}

function doubleOf(content: unknown): unknown {
  if (typeof content === "number") {
    return content;
  }
  if (isText(content, /^(?:NaN|-?Infinity)$/)) {
    return Number(content);
  }
  const double = isText(content, /^[+-]?\d{1,400}(?:\.\d{0,400})?(?:[eE][+-]?\d{1,4})?$/) ? Number(content) : Number.NaN;
  return Number.isFinite(double) ? double : notExtended; // MongoDB writes no double that it cannot hold
}

/** A MongoDB timestamp: seconds and a counter. It is MongoDB's internal clock, not a time of the user's, so it is not converted to one. */
function timestampOf(content: unknown): unknown {
  if (!isPlain(content) || !isInteger(content["t"]) || !isInteger(content["i"])) {
    return notExtended;
  }
  return { t: Number(content["t"]), i: Number(content["i"]) };
}

function regularExpressionOf(content: unknown): unknown {
  if (!isPlain(content) || typeof content["pattern"] !== "string" || typeof content["options"] !== "string") {
    return notExtended;
  }
  return { pattern: content["pattern"], options: content["options"] };
}

function legacyRegularExpressionOf(pattern: unknown, { $options }: Readonly<Record<string, unknown>>): unknown {
  return typeof pattern === "string" && typeof $options === "string" ? { pattern, options: $options } : notExtended;
}

function codeOf(code: unknown, wrapper: Readonly<Record<string, unknown>>, convertScope: (scope: unknown) => unknown): unknown {
  if (typeof code !== "string") {
    return notExtended;
  }
  if (Object.hasOwn(wrapper, "$scope")) {
    return { code, scope: convertScope(wrapper["$scope"]) };
  }
  return Object.keys(wrapper).length === 1 ? code : notExtended;
}

const uuidSubType = 4;

/** Bytes, or a UUID if the subtype says so. */
function binaryOf(content: unknown, wrapper: Readonly<Record<string, unknown>>): unknown {
  const isOneObject = isPlain(content);
  if (Object.keys(wrapper).length !== (isOneObject ? 1 : 2)) {
    return notExtended;
  }
  const { base64, subType } = isOneObject ? content : { base64: content, subType: wrapper["$type"] };
  if (typeof base64 !== "string" || !isText(subType, /^[0-9a-fA-F]{1,2}$/) || !/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) {
    return notExtended;
  }
  const bytes = Buffer.from(base64, "base64");
  return Number.parseInt(subType, 16) === uuidSubType && bytes.length === 16 ? uuidText(bytes.toString("hex")) : bytes;
}

const uuidPattern = /^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/;
/** The form of a Decimal128, which has 34 digits and an exponent of up to four digits. */
const decimalPattern = /^(?:NaN|-?Infinity|[+-]?\d{1,40}(?:\.\d{0,40})?(?:[eE][+-]?\d{1,4})?)$/;

function isText(value: unknown, pattern: RegExp): value is string {
  return typeof value === "string" && pattern.test(value);
}

function isInteger(value: unknown): value is number | bigint | string {
  return typeof value === "bigint" || (typeof value === "number" && Number.isInteger(value)) || isText(value, /^-?\d{1,20}$/);
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) {
    return false;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
