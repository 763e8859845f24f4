import { DecodeError } from "../errors.ts";
import type { DecimalMode, ResolvedValueOptions } from "../options.ts";
import type { Conversion } from "./conversion.ts";
import {
  decimalText,
  isScale,
  minScale,
  maxScale,
  type ParsedDecimal,
  parseDecimal,
  placePoint,
  rescale,
  smallDecimalText,
} from "./decimal-text.ts";
import { valueInvalid } from "./value-invalid.ts";
import { readWideInteger } from "./wide-integer.ts";

/**
 * The longest unscaled value that is read: 1,001 digits. PostgreSQL lets a column declare 1,000. The time to make text of a number grows
 * faster than its length, so without a limit a message of long numbers would delay all messages after it.
 */
export const maxDecimalBytes = 416;

/** A double holds two's complement integers up to this length exactly. */
const maxSmallBytes = 6;

/** Converts unscaled values into the form that the options ask for. One renderer for each column. */
interface DecimalRenderer {
  readonly small: (unscaled: number, scale: number) => unknown;
  /** Takes an unscaled value in the message's bytes, which is longer than a small one and within the limit. */
  readonly wide: (bytes: Uint8Array, start: number, end: number, scale: number) => unknown;
  readonly parsed: (decimal: ParsedDecimal) => unknown;
  /**
   * Takes NaN and the infinities of PostgreSQL's numeric. Only text can hold them, as PostgreSQL's words or Debezium's
   * (`POSITIVE_INFINITY`).
   */
  readonly special: (text: string) => unknown;
}

/**
 * A decimal whose scale is in its schema: Connect's Decimal, Avro's decimal. The scale is null if it is unknown. In that case only text can
 * be read.
 */
export function decimalConversion(name: string, scale: number | null, { decimal }: ResolvedValueOptions): Conversion {
  const render = decimalRenderer(decimal);
  const power = scale === null || scale < 0 ? Number.NaN : 10 ** scale;
  const fromText = (text: string): unknown => {
    const parsed = parseDecimal(text);
    const scaled = parsed === null || scale === null ? parsed : rescale(parsed, scale);
    if (scaled === null) {
      throw valueInvalid(name, scale === null ? "a decimal number" : `a decimal number that ${scale} fraction digits hold`, "another one");
    }
    return render.parsed(scaled);
  };
  return {
    bytes: scale === null ? withoutScale(name) : bytesReader(name, scale, render),
    numberText: decimal === "string" ? (text) => (hasScale(text, scale) ? text : fromText(text)) : fromText,
    int: (value) => {
      const unscaled = value * power;
      return Number.isSafeInteger(unscaled) ? render.small(unscaled, scale as number) : fromText(String(value)); // NaN if there is no scale
    },
    bigint: (value) => fromText(String(value)),
    text: (text) => decimalOfText(name, text, decimal, render),
  };
}

/** Debezium's VariableScaleDecimal, which has its scale in each value. */
export function variableScaleDecimalConversion(name: string, { decimal }: ResolvedValueOptions): Conversion {
  const render = decimalRenderer(decimal);
  return {
    struct: (value) => {
      const { scale, value: unscaled } = value;
      if (!isScale(scale)) {
        throw valueInvalid(name, `an integer field scale from ${minScale} to ${maxScale}`, "another value");
      }
      if (!(unscaled instanceof Uint8Array)) {
        throw valueInvalid(name, "bytes in its field value", "another value");
      }
      return fromBytes(name, unscaled, 0, unscaled.length, scale, render);
    },
    text: (text) => decimalOfText(name, text, decimal, render),
  };
}

/** Avro's big-decimal: a length, the unscaled bytes, then the scale. Length and scale are Avro integers. */
export function avroBigDecimalConversion(name: string, { decimal }: ResolvedValueOptions): Conversion {
  const render = decimalRenderer(decimal);
  return {
    bytes: (bytes, start, end) => {
      const length = readZigZag(bytes, start, end);
      const valueEnd = length === null ? end : length.next + length.value;
      const scale = length === null || length.value < 0 || valueEnd > end ? null : readZigZag(bytes, valueEnd, end);
      if (length === null || scale === null || scale.next !== end || !isScale(scale.value)) {
        throw valueInvalid(name, "an unscaled value and its scale", "bytes that are not both");
      }
      return fromBytes(name, bytes, length.next, valueEnd, scale.value, render);
    },
  };
}

/** The scale that a schema's parameters state, or null. */
export function scaleParameter(text: string | undefined): number | null {
  const scale = text === undefined || !/^-?\d{1,6}$/.test(text) ? null : Number(text);
  return isScale(scale) ? scale : null;
}

/** Whether the text of a JSON number already has exactly its scale, as Connect writes it. */
function hasScale(text: string, scale: number | null): boolean {
  return scale !== null && text.length - text.indexOf(".") - 1 === scale && /^(?:\d|-[1-9])\d*\.\d+$/.test(text);
}

function bytesReader(name: string, scale: number, render: DecimalRenderer): (bytes: Uint8Array, start: number, end: number) => unknown {
  return (bytes, start, end) => fromBytes(name, bytes, start, end, scale, render);
}

function withoutScale(name: string): () => never {
  return () => {
    throw valueInvalid(name, `a scale from ${minScale} to ${maxScale} in its schema`, "none");
  };
}

function fromBytes(name: string, bytes: Uint8Array, start: number, end: number, scale: number, render: DecimalRenderer): unknown {
  const from = end - start > maxSmallBytes ? withoutSignExtension(bytes, start, end) : start;
  const length = end - from;
  if (length > maxSmallBytes) {
    if (length > maxDecimalBytes) {
      throw new DecodeError(
        "limit-exceeded",
        `a column of type ${name} may take ${maxDecimalBytes} bytes, found ${length}; set the connector's decimal.handling.mode to string`,
      );
    }
    return render.wide(bytes, from, end, scale);
  }
  if (length < 1) {
    throw valueInvalid(name, "at least one byte", "none");
  }
  let unscaled = ((bytes[from] as number) << 24) >> 24; // the first byte has the sign
  for (let i = from + 1; i < end; i++) {
    unscaled = unscaled * 256 + (bytes[i] as number);
  }
  return render.small(unscaled, scale);
}

/**
 * The start of the bytes without sign padding. Avro's fixed decimals are padded with their sign, and most of them are small without the
 * padding.
 */
function withoutSignExtension(bytes: Uint8Array, start: number, end: number): number {
  const sign = bytes[start] as number;
  if (sign !== 0 && sign !== 255) {
    return start;
  }
  let from = start;
  while (from < end - 1 && bytes[from] === sign && ((bytes[from + 1] as number) ^ sign) < 128) {
    from++;
  }
  return from;
}

function decimalOfText(name: string, text: string, mode: DecimalMode, render: DecimalRenderer): unknown {
  if (mode === "string" && /^-?\d+(?:\.\d+)?$/.test(text)) {
    return text;
  }
  if (/^(?:[+-]?(?:nan|inf|infinity)|(?:positive|negative)_infinity)$/i.test(text)) {
    return render.special(text);
  }
  const parsed = parseDecimal(text);
  if (parsed === null) {
    throw valueInvalid(name, "decimal text", "other text");
  }
  return render.parsed(parsed);
}

function decimalRenderer(mode: DecimalMode): DecimalRenderer {
  if (mode === "string") {
    return {
      small: smallDecimalText,
      wide: (bytes, start, end, scale) => decimalText(readWideInteger(bytes, start, end), scale),
      parsed: textOfParsed,
      special: (text) => text,
    };
  }
  if (mode === "number") {
    return {
      small: smallDecimalNumber,
      wide: (bytes, start, end, scale) => Number(decimalText(readWideInteger(bytes, start, end), scale)),
      parsed: (decimal) => Number(textOfParsed(decimal)),
      special: (text) =>
        /nan/i.test(text) ? Number.NaN : /^(?:-|negative)/i.test(text) ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY,
    };
  }
  return {
    small: (unscaled, scale) => mode(BigInt(unscaled), scale),
    wide: (bytes, start, end, scale) => mode(readWideInteger(bytes, start, end), scale),
    parsed: ({ isNegative, digits, scale }) => mode(isNegative ? -bigintOf(digits) : bigintOf(digits), scale),
    special: (text) => text,
  };
}

/**
 * Makes a bigint from digits. More digits than PostgreSQL's numeric can hold are refused, because the time grows faster than the number of
 * digits.
 */
function bigintOf(digits: string): bigint {
  if (digits.length > maxTextDigits) {
    throw new DecodeError("limit-exceeded", `a decimal may have ${maxTextDigits} digits, found ${digits.length}`);
  }
  return BigInt(digits);
}

const maxTextDigits = 147_455;

/**
 * The number for a small decimal. Both operands of the division are exact, so the result is the nearest double, the same as from parsing
 * the text.
 */
function smallDecimalNumber(unscaled: number, scale: number): number {
  return scale >= 0 && scale <= 22 ? unscaled / 10 ** scale : Number(smallDecimalText(unscaled, scale));
}

function textOfParsed({ isNegative, digits, scale }: ParsedDecimal): string {
  const text = placePoint(digits, scale);
  return isNegative ? `-${text}` : text;
}

/** One Avro integer of at most 32 bits, and the position after it. */
function readZigZag(bytes: Uint8Array, start: number, end: number): { value: number; next: number } | null {
  let raw = 0;
  for (let i = start, factor = 1; i < end && i < start + 5; i++, factor *= 128) {
    const byte = bytes[i] as number;
    raw += (byte & 127) * factor;
    if (byte < 128) {
      return { value: raw % 2 === 0 ? raw / 2 : -(raw + 1) / 2, next: i + 1 };
    }
  }
  return null;
}
