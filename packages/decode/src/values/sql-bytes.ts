import type { BitsMode } from "../options.ts";
import type { SqlType } from "./sql-type.ts";
import { valueInvalid } from "./value-invalid.ts";

/** The forms in which envelopes write bytes as text: one character for each byte, base64, or hexadecimal digits. */
export type BytesText = "latin1" | "base64" | "hex";

const patterns: Readonly<Record<BytesText, RegExp>> = {
  latin1: /^[\0-\xff]*$/,
  base64: /^[A-Za-z0-9+/]*={0,2}$/,
  hex: /^(?:[0-9a-fA-F]{2})*$/,
};

/** The bytes that a text encodes. */
export function bytesOfText(name: string, text: string, written: BytesText): Buffer {
  const digits = written === "hex" && text.startsWith("\\x") ? text.slice(2) : text;
  const isComplete = written !== "base64" || digits.length % 4 === 0;
  if (!isComplete || !patterns[written].test(digits)) {
    throw valueInvalid(name, `bytes as ${written} text`, "other text");
  }
  return Buffer.from(digits, written);
}

/** Converts a bit string: MySQL's from its integer, PostgreSQL's from its digits. A single bit becomes a boolean, as Debezium does it. */
export function bitsOfText(type: SqlType, dialect: "mysql" | "postgresql", mode: BitsMode): (value: unknown) => unknown {
  const isVarying = type.name !== "bit";
  const { length } = type; // TiCDC states no length, so a single bit is not known to be one
  const digitsOf = dialect === "mysql" ? binaryDigits : writtenDigits;
  return (value) => {
    if (typeof value === "boolean") {
      return value;
    }
    const digits = digitsOf(type.name, value, length);
    return length === 1 && !isVarying && digits.length === 1 ? digits === "1" : rendered(digits, mode);
  };
}

/** MySQL's limit for a BIT. */
const maxBits = 64;

function binaryDigits(name: string, value: unknown, length: number | null): string {
  const isInteger = typeof value === "bigint" || (typeof value === "number" && Number.isInteger(value));
  if (!isInteger && !(typeof value === "string" && /^\d{1,20}$/.test(value))) {
    throw valueInvalid(name, "bits as an integer", "another value");
  }
  return BigInt(value as string | number | bigint)
    .toString(2)
    .padStart(Math.min(length ?? 1, maxBits), "0");
}

function writtenDigits(name: string, value: unknown): string {
  if (typeof value !== "string" || !/^[01]*$/.test(value)) {
    throw valueInvalid(name, "bits as text of 0 and 1", "another value");
  }
  return value;
}

/** The bits in the form of the option. Debezium's Bits have their lowest byte first. */
function rendered(digits: string, mode: BitsMode): unknown {
  if (mode === "string") {
    return digits;
  }
  if (mode === "bigint") {
    return digits === "" ? 0n : BigInt(`0b${digits}`);
  }
  const whole = digits.padStart(Math.ceil(digits.length / 8) * 8, "0");
  return Buffer.from(Array.from(whole.matchAll(/[01]{8}/g), ([octet]) => Number.parseInt(octet, 2)).reverse());
}
