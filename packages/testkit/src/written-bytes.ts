/** Bytes as tests and vectors write them: text stands for its UTF-8, and a list for its parts, one after the other. */
export type WrittenBytes = string | Uint8Array | HexBytes | Base64Bytes | readonly WrittenBytes[];

/** Two digits a byte; spaces between them count for nothing. */
export interface HexBytes {
  /** The digits, in either case. */
  readonly hex: string;
}

/** Bytes, written as base64. */
export interface Base64Bytes {
  /** The bytes in base64. */
  readonly base64: string;
}

/**
 * What is written as bytes: `bytesOf([{ hex: "0000000007" }, '{"id":1}'])`. Null is Kafka's null. Throws a `TypeError` for anything else, as an
 * object that was meant as JSON.
 */
export function bytesOf(written: WrittenBytes): Buffer;
export function bytesOf(written: WrittenBytes | null): Buffer | null;
export function bytesOf(written: WrittenBytes | null): Buffer | null {
  if (written === null || written instanceof Buffer) {
    return written;
  }
  if (typeof written === "string" || written instanceof Uint8Array) {
    return Buffer.from(written as Uint8Array); // whichever of the two it is
  }
  if (isParts(written)) {
    return Buffer.concat(written.map((part) => bytesOf(part)));
  }
  const { hex, base64 } = Object(written) as Partial<HexBytes & Base64Bytes>; // nothing is known of it: tests are written in JavaScript, too
  if (typeof hex === "string") {
    return bytesOfDigits(hex.replaceAll(" ", ""));
  }
  if (typeof base64 === "string") {
    return bytesOfBase64(base64);
  }
  const found = Object.prototype.toString.call(written).slice("[object ".length, -1);
  throw new TypeError(
    `expected bytes as text, a Uint8Array, { hex }, { base64 }, a list of these, or null, found ${found}; write JSON as text: JSON.stringify({ id: 1 })`,
  );
}

/** `Buffer.from` ends at the first digit that is none, without a word. */
function bytesOfDigits(digits: string): Buffer {
  if (!/^(?:[0-9a-f]{2})*$/i.test(digits)) {
    throw new TypeError(`expected two hexadecimal digits a byte, found ${JSON.stringify(digits)}`);
  }
  return Buffer.from(digits, "hex");
}

// Looks for what must not be there: a pattern for the whole text would need a stack for a value of many megabytes.
const foreignToBase64 = /[^A-Za-z0-9+/=]|=[^=]/;

/** Whether a text is base64 with its padding. `Buffer.from` leaves out what is not, without a word. */
export function isBase64(text: string): boolean {
  return text.length % 4 === 0 && !text.endsWith("===") && !foreignToBase64.test(text);
}

function bytesOfBase64(text: string): Buffer {
  if (!isBase64(text)) {
    throw new TypeError(`expected base64 with its padding, found ${JSON.stringify(text.slice(0, 40))}`);
  }
  return Buffer.from(text, "base64");
}

function isParts(written: HexBytes | Base64Bytes | readonly WrittenBytes[]): written is readonly WrittenBytes[] {
  return Array.isArray(written);
}
