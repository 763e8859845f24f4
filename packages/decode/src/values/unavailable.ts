import { createHash } from "node:crypto";
import { dateText, secondsPerDay } from "./calendar.ts";
import { uuidText } from "./uuid.ts";

/** The value of a column that the source did not send because it did not change (PostgreSQL's TOAST). */
export const UNAVAILABLE: unique symbol = Symbol.for("cdckit.unavailable");

/**
 * The row with each UNAVAILABLE column taken from `previous`. A column that `previous` lacks stays UNAVAILABLE, and null stays null. A row
 * without UNAVAILABLE columns is returned as it is.
 */
export function applyTo<Row extends object>(row: Row | null, previous: Partial<Row> | null): Row | null {
  if (row === null || previous === null) {
    return row;
  }
  let merged: Row | null = null;
  for (const [name, value] of Object.entries(row)) {
    if (value === UNAVAILABLE && Object.hasOwn(previous, name)) {
      merged ??= { ...row }; // own properties, `__proto__` among them
      Object.assign(merged, { [name]: previous[name as keyof Row] });
    }
  }
  return merged ?? row;
}

/** A form of the placeholder in the message's bytes. Its possible lengths and first bytes rule out nearly every value. */
export interface PlaceholderBytes {
  readonly lengths: readonly number[];
  readonly starts: readonly number[];
  readonly test: (bytes: Uint8Array, start: number, end: number) => boolean;
}

/** One test for each form of Debezium's placeholder. A test returns false at the first difference, and most values differ at the start. */
export interface UnavailableTests {
  /** Text, the JSON text of an hstore, and the text of a binary column (`binary.handling.mode` of base64 or hex). */
  readonly text: (value: string) => boolean;
  /** The same forms in the message's bytes. */
  readonly textBytes: PlaceholderBytes;
  /** The base64 text of the bytes form, for encodings that carry no types. */
  readonly base64: (value: string) => boolean;
  /** Bytes in the message. */
  readonly bytes: (bytes: Uint8Array, start: number, end: number) => boolean;
  /** The same, with what rules out most bytes. */
  readonly rawBytes: PlaceholderBytes;
  /** Lists of integers, dates, texts, bytes (or their base64 text) and UUIDs. The dates may have been converted already. */
  readonly array: (value: readonly unknown[]) => boolean;
  /** A map with string keys, or an hstore: an object or a `Map`. */
  readonly map: (value: unknown) => boolean;
}

let last: { readonly placeholder: string; readonly tests: UnavailableTests } | null = null;

/**
 * The tests for one placeholder text. If the text is empty, there is no placeholder and no value is unavailable. The tests of the last text
 * are kept, because each reader asks for them and one message may have thousands of readers.
 */
export function unavailableTests(placeholder: string): UnavailableTests {
  if (last?.placeholder !== placeholder) {
    last = { placeholder, tests: testsOf(placeholder) };
  }
  return last.tests;
}

function testsOf(placeholder: string): UnavailableTests {
  if (placeholder === "") {
    const none = { lengths: [0], starts: [0], test: never };
    return { text: never, textBytes: none, base64: never, bytes: never, rawBytes: none, array: never, map: never };
  }
  const encoded = Buffer.from(placeholder, "utf8");
  const base64Text = encoded.toString("base64");
  const quoted = JSON.stringify(placeholder);
  const forms = [placeholder, `{${quoted}:${quoted}}`, base64Text, urlSafeText(base64Text), encoded.toString("hex")];
  const texts = [...new Set([...forms, ...truncated(placeholder)])];
  const bytes = bytesTest(encoded);
  const item = itemTest(placeholder, encoded, base64Text, bytes);
  const integers = integersTest(new Int8Array(encoded)); // Java's bytes are signed
  const known = new Set(texts);
  const isStart = startTest(texts);
  const longest = Math.max(...texts.map((text) => text.length)); // a set would read the whole of a long text
  return {
    text: (value) => isStart(value.charCodeAt(0)) && value.length <= longest && known.has(value),
    textBytes: textBytesTest(texts),
    base64: (value) => value.length === base64Text.length && value === base64Text,
    bytes,
    rawBytes: { lengths: [encoded.length], starts: [...encoded.subarray(0, 1)], test: bytes },
    array: (value) => (value.length === 1 ? item(value[0]) : integers(value)),
    map: (value) => isSelfMap(value, placeholder),
  };
}

function never(): boolean {
  return false;
}

function bytesTest(expected: Uint8Array): (bytes: Uint8Array, start: number, end: number) => boolean {
  return (bytes, start, end) => {
    if (end - start !== expected.length) {
      return false;
    }
    for (let i = 0; i < expected.length; i++) {
      if (bytes[start + i] !== expected[i]) {
        return false;
      }
    }
    return true;
  };
}

const debeziumPlaceholder = "__debezium_unavailable_value";
const minTruncatedChars = 8;

/**
 * The placeholder as Debezium's `column.truncate.to.N.chars` leaves it. Only Debezium's own text cannot be the beginning of a word of a user's, and only
 * from `__debezi` on.
 */
function truncated(placeholder: string): readonly string[] {
  return placeholder === debeziumPlaceholder
    ? Array.from({ length: placeholder.length - minTruncatedChars }, (_, i) => placeholder.slice(0, minTruncatedChars + i))
    : [];
}

/** Whether a character is the first one of a text. It rules out nearly every value, for less than a comparison of texts. */
function startTest(texts: readonly string[]): (char: number) => boolean {
  const starts = texts.map((text) => text.charCodeAt(0));
  const isStart = Uint8Array.from({ length: Math.max(...starts) + 1 }, (_, char) => (starts.includes(char) ? 1 : 0));
  return (char) => isStart[char] === 1;
}

function textBytesTest(texts: readonly string[]): PlaceholderBytes {
  const encoded = texts.map((text) => Buffer.from(text));
  const tests = encoded.map(bytesTest);
  return {
    lengths: [...new Set(encoded.map(({ length }) => length))],
    starts: [...new Set(encoded.map(([first = 0]) => first))],
    test: (bytes, start, end) => tests.some((test) => test(bytes, start, end)),
  };
}

/** The URL-safe form of base64. Java keeps the padding that Node leaves out. */
function urlSafeText(base64: string): string {
  return base64.replaceAll("+", "-").replaceAll("/", "_");
}

/** Tests the one item that lists of text, bytes and UUIDs hold. */
function itemTest(
  placeholder: string,
  encoded: Uint8Array,
  base64Text: string,
  bytes: UnavailableTests["bytes"],
): (item: unknown) => boolean {
  const uuid = nameUuid(encoded);
  return (item) =>
    typeof item === "string"
      ? item === placeholder || item === uuid || item === base64Text
      : item instanceof Uint8Array && bytes(item, 0, item.length);
}

/**
 * Tests a list of integers, which holds the bytes of the placeholder one by one: as numbers, as bigints or text if the options say so, or
 * as dates.
 */
function integersTest(expected: Int8Array): (value: readonly unknown[]) => boolean {
  const millisPerDay = secondsPerDay * 1_000;
  const texts = Array.from(expected, String);
  const dates = Array.from(expected, dateText);
  return (value) => {
    if (value.length !== expected.length) {
      return false;
    }
    return value.every((item, i) => {
      if (typeof item === "number") {
        return item === expected[i];
      }
      if (item instanceof Date) {
        return item.getTime() === (expected[i] as number) * millisPerDay; // the lengths are equal
      }
      return typeof item === "bigint" ? String(item) === texts[i] : item === texts[i] || dateTextOf(item) === dates[i];
    });
  };
}

/** The text of an item that may be a date: ISO text, or a `Temporal.PlainDate`. Null for other values. */
function dateTextOf(item: unknown): string | null {
  if (typeof item === "string") {
    return item;
  }
  // Plain objects come from messages, which choose what their `toString` is.
  const isMade = typeof item === "object" && item !== null && Object.getPrototypeOf(item) !== Object.prototype && "toJSON" in item;
  return isMade ? String(item) : null;
}

function isSelfMap(value: unknown, placeholder: string): boolean {
  if (typeof value !== "object" || value === null) {
    return false;
  }
  if (value instanceof Map) {
    return value.size === 1 && value.get(placeholder) === placeholder;
  }
  const found = Object.getOwnPropertyDescriptor(value, placeholder)?.value;
  return found === placeholder && Object.keys(value).length === 1;
}

/** Java's `UUID.nameUUIDFromBytes`: MD5 of the bytes, with version 3 and the variant set. */
function nameUuid(bytes: Uint8Array): string {
  const hash = createHash("md5").update(bytes).digest();
  hash.writeUInt8((hash.readUInt8(6) & 0x0f) | 0x30, 6);
  hash.writeUInt8((hash.readUInt8(8) & 0x3f) | 0x80, 8);
  return uuidText(hash.toString("hex"));
}
