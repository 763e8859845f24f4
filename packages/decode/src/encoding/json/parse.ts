import { DecodeError } from "../../errors.ts";
import { setProperty } from "../../set-property.ts";
import { asciiText, latin1 } from "../utf8-text.ts";
import { type JsonCursor, jsonNumberEnd, missed, maxDigits, numberBytes, plainStringEnd, stringEnd, stringText } from "./cursor.ts";
import { exactInteger } from "./exact-integer.ts";
import { listWith } from "../../list-with.ts";

/** A JSON number with a fraction or an exponent, as it was written. */
export class NumberText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Whether a parsed value is a JSON object: not a list, not a {@link NumberText}. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

export interface ParseOptions {
  readonly maxDepth: number;
  /**
   * Whether numbers with a fraction or an exponent are read as doubles, for values without a type. A number out of a double's range keeps
   * its text. If false, all of them keep their text.
   * @default false
   */
  readonly asDoubles?: boolean;
}

/**
 * Parses all of JSON exactly: integers as a number if a double holds them and as a bigint if not, other numbers as their text, strict
 * UTF-8, limited depth, `__proto__` as a normal property. The value must fill the bytes from `start` to `end`.
 */
export function parseJson(bytes: Uint8Array, start: number, end: number, options: ParseOptions): unknown {
  return parseWhole(bytes, start, end, options).value;
}

/** A parsed value, and whether it contains numbers that are kept as text. Only such a value must be converted. */
export interface Parsed {
  readonly value: unknown;
  readonly hasTexts: boolean;
  /** Whether a number has a fraction or an exponent. If none has, the value does not depend on how such numbers are read. */
  readonly hasFractions: boolean;
}

/** The same as {@link parseJson}, for callers that convert only values that contain a {@link NumberText}. */
export function parseWhole(bytes: Uint8Array, start: number, end: number, options: ParseOptions): Parsed {
  parser.begin(bytes, start, end, options);
  try {
    const value = parser.value(options.maxDepth);
    parser.expectEnd();
    return { value, hasTexts: parser.hasTexts, hasFractions: parser.hasFractions };
  } finally {
    parser.forget();
  }
}

/** Parses any JSON value at the cursor. Sets the cursor after it, or to {@link missed} if the text is not JSON. */
export function parseNested(c: JsonCursor, options: ParseOptions): unknown {
  parser.begin(c.bytes, c.pos, c.end, options);
  try {
    const value = parser.value(options.maxDepth);
    c.pos = parser.position;
    c.hasTexts = parser.hasTexts;
    return value;
  } catch {
    c.pos = missed; // the slow reader finds the same error and throws it
    return null;
  } finally {
    parser.forget();
  }
}

const space = 0x20;
const quoteByte = 0x22;
const comma = 0x2c;
const minus = 0x2d;
const zero = 0x30;
const point = 0x2e;
/** A double holds every integer with fifteen digits. */
const maxSmallDigits = 15;
const colon = 0x3a;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

const noBytes = new Uint8Array(0);

class Parser {
  /** Whether a {@link NumberText} was made. */
  hasTexts = false;
  /** Whether a number with a fraction or an exponent was read. */
  hasFractions = false;
  #bytes: Uint8Array = noBytes;
  #end = 0;
  #asDoubles = false;
  #start = 0;
  #pos = 0;

  begin(bytes: Uint8Array, start: number, end: number, options: ParseOptions): void {
    this.hasTexts = false;
    this.hasFractions = false;
    this.#bytes = bytes;
    this.#start = start;
    this.#pos = start;
    this.#end = end;
    this.#asDoubles = options.asDoubles === true;
  }

  /** Drops the bytes, because a topic without new messages must not keep its last batch in memory. */
  forget(): void {
    this.#bytes = noBytes;
  }

  value(depth: number): unknown {
    let byte = this.#pos < this.#end ? (this.#bytes[this.#pos] as number) : -1;
    if (byte <= space) {
      byte = this.#peek();
    }
    if (byte === quoteByte) {
      return this.#string();
    }
    if (byte === openBrace) {
      return this.#object(depth);
    }
    if (byte === openBracket) {
      return this.#array(depth);
    }
    return byte === 0x74 || byte === 0x66 || byte === 0x6e ? this.#word(byte) : this.#number();
  }

  get position(): number {
    return this.#pos;
  }

  expectEnd(): void {
    this.#skipSpace();
    if (this.#pos < this.#end) {
      throw new DecodeError(
        "trailing-bytes",
        `expected the JSON value to end the message, found ${this.#end - this.#pos} more bytes after byte ${this.#pos - this.#start}: a message is one value, and several in one message (NDJSON) are not read`,
      );
    }
  }

  #object(depth: number): Record<string, unknown> {
    this.#enter(depth);
    const object: Record<string, unknown> = {};
    if (this.#peek() === closeBrace) {
      this.#pos++;
      return object;
    }
    for (;;) {
      if (this.#peek() !== quoteByte) {
        throw this.#unexpected("a property name");
      }
      const name = this.#string();
      this.#expect(colon, "':'");
      setProperty(object, name, this.value(depth - 1));
      if (!this.#more(closeBrace, "',' or '}'")) {
        return object;
      }
    }
  }

  #array(depth: number): unknown[] {
    this.#enter(depth);
    if (this.#peek() === closeBracket) {
      this.#pos++;
      return [];
    }
    const array = listWith(this.value(depth - 1)); // a list with one item takes less memory than an empty one that grows
    while (this.#more(closeBracket, "',' or ']'")) {
      array.push(this.value(depth - 1));
    }
    return array;
  }

  #enter(depth: number): void {
    if (depth <= 0) {
      throw new DecodeError(
        "limit-exceeded",
        "expected JSON nested at most limits.maxDepth deep, found it nested deeper; raise the limit if the message is valid",
      );
    }
    this.#pos++;
  }

  /** Whether another item follows. If not, the closing bracket is taken. */
  #more(close: number, expected: string): boolean {
    let byte = this.#pos < this.#end ? (this.#bytes[this.#pos] as number) : -1;
    if (byte !== comma && byte !== close) {
      byte = this.#peek();
      if (byte !== comma && byte !== close) {
        throw this.#unexpected(expected);
      }
    }
    this.#pos++;
    return byte === comma;
  }

  #string(): string {
    const open = this.#pos + 1;
    const plainEnd = plainStringEnd(this.#bytes, open, this.#end);
    if (plainEnd !== missed) {
      this.#pos = plainEnd + 1;
      return asciiText(this.#bytes, open, plainEnd);
    }
    const close = stringEnd(this.#bytes, open, this.#end);
    if (close === missed) {
      throw new DecodeError(
        "malformed",
        `expected the JSON string at byte ${open - this.#start} to be closed, found its end missing or a control character`,
      );
    }
    this.#pos = close + 1;
    return stringText(this.#bytes, open, close);
  }

  /** Nearly every number has few digits. It is read in one pass, without making a text of it. */
  #number(): unknown {
    const bytes = this.#bytes;
    const end = this.#end;
    const start = this.#pos;
    const isNegative = start < end && bytes[start] === minus;
    const first = isNegative ? start + 1 : start;
    const max = first + maxSmallDigits < end ? first + maxSmallDigits : end;
    let value = 0;
    let p = first;
    for (; p < max; p++) {
      const digit = (bytes[p] as number) - zero;
      if (digit < 0 || digit > 9) {
        break;
      }
      value = value * 10 + digit;
    }
    if (p === first || (p - first > 1 && bytes[first] === zero)) {
      return this.#anyNumber();
    }
    const next = p < end ? (bytes[p] as number) : 0;
    if (numberBytes[next] === 0) {
      this.#pos = p;
      return isNegative ? -value : value;
    }
    return next === point && this.#asDoubles ? this.#fraction(value, isNegative, p + 1, max) : this.#anyNumber();
  }

  /**
   * Reads a short decimal fraction after its point. All its digits together and the power of ten are exact in a double, so their quotient
   * is rounded once, and is the double nearest to the text.
   */
  #fraction(whole: number, isNegative: boolean, first: number, max: number): unknown {
    const bytes = this.#bytes;
    let value = whole;
    let p = first;
    for (; p < max; p++) {
      const digit = (bytes[p] as number) - zero;
      if (digit < 0 || digit > 9) {
        break;
      }
      value = value * 10 + digit;
    }
    if (p === first || (p < this.#end && numberBytes[bytes[p] as number] === 1)) {
      return this.#anyNumber();
    }
    this.#pos = p;
    this.hasFractions = true;
    const double = value / (powersOfTen[p - first] as number);
    return isNegative ? -double : double;
  }

  #anyNumber(): unknown {
    const start = this.#pos;
    const close = jsonNumberEnd(this.#bytes, start, this.#end);
    if (close === missed) {
      throw this.#unexpected("a JSON value");
    }
    this.#pos = close;
    const digits = integerDigits(this.#bytes, start, close);
    if (digits === 0) {
      this.hasFractions = true;
      const text = latin1(this.#bytes, start, close);
      const double = this.#asDoubles ? Number(text) : Number.NaN;
      if (Number.isFinite(double)) {
        return double;
      }
      this.hasTexts = true;
      return new NumberText(text);
    }
    if (digits > maxDigits) {
      throw new DecodeError("limit-exceeded", `expected an integer of at most ${maxDigits} digits, found ${digits}`);
    }
    return exactInteger(this.#bytes, start, close);
  }

  #word(first: number): unknown {
    const [letters, value] = first === 0x74 ? trueWord : first === 0x66 ? falseWord : nullWord;
    const close = this.#pos + letters.length;
    if (close > this.#end) {
      throw this.#unexpected("a JSON value");
    }
    for (let i = 1; i < letters.length; i++) {
      if (this.#bytes[this.#pos + i] !== letters[i]) {
        throw this.#unexpected("a JSON value");
      }
    }
    this.#pos = close;
    return value;
  }

  #expect(byte: number, what: string): void {
    if (this.#peek() !== byte) {
      throw this.#unexpected(what);
    }
    this.#pos++;
  }

  #peek(): number {
    this.#skipSpace();
    return this.#pos < this.#end ? (this.#bytes[this.#pos] as number) : -1;
  }

  #skipSpace(): void {
    let p = this.#pos;
    while (p < this.#end && isSpace(this.#bytes[p] as number)) {
      p++;
    }
    this.#pos = p;
  }

  #unexpected(expected: string): DecodeError {
    if (this.#pos >= this.#end) {
      return new DecodeError("truncated", `expected ${expected}, found the end of the message after ${this.#end - this.#start} bytes`);
    }
    return new DecodeError(
      "malformed",
      `expected ${expected} at byte ${this.#pos - this.#start}, found a byte that JSON does not allow there`,
    );
  }
}

const powersOfTen: readonly number[] = Array.from({ length: maxSmallDigits + 1 }, (_, exponent) => 10 ** exponent);

/** The number of digits of the number between two positions; 0 if it has a fraction or an exponent. */
function integerDigits(bytes: Uint8Array, start: number, end: number): number {
  const first = bytes[start] === minus ? start + 1 : start;
  for (let p = first; p < end; p++) {
    const digit = (bytes[p] as number) - zero;
    if (digit < 0 || digit > 9) {
      return 0;
    }
  }
  return end - first;
}

const trueWord = [Buffer.from("true"), true] as const;
const falseWord = [Buffer.from("false"), false] as const;
const nullWord = [Buffer.from("null"), null] as const;

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/**
 * One for all readers, which is safe because parsing calls no other code. If no instance of the class is alive during a garbage collection,
 * the runtime throws away its optimised code.
 */
const parser: Parser = new Parser();
