/**
 * Vector files that a person can read: bytes that are text stand as text, and JSON text between other bytes as a part of its own. The
 * programs beside this file write `{"base64"}`; this rewrites what they have written: `node scripts/vectors/readable.mjs FILE...`.
 */
import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { pathToFileURL } from "node:url";

const writtenBytes = /\{\s*"(base64|hex)"\s*:\s*"([^"]*)"\s*\}/g;

/**
 * The text of a vector file, with bytes written as readably as they allow. All else stays as it is.
 * @param {string} text
 */
export function readable(text) {
  return text.replace(writtenBytes, (written, form, digits) => {
    const bytes = form === "hex" ? Buffer.from(digits.replaceAll(" ", ""), "hex") : Buffer.from(digits, "base64");
    const parts = form === "base64" && isText(bytes) ? [bytes.toString()] : partsOf(bytes);
    const hasText = parts.some((part) => typeof part === "string");
    return hasText ? JSON.stringify(parts.length === 1 ? parts[0] : parts) : written;
  });
}

/** Shorter ones are as readable in digits, and their digits may be what their vector is about. */
const shortestText = 12;

/**
 * The bytes as JSON texts and what lies between them.
 * @param {Buffer} bytes
 */
function partsOf(bytes) {
  /** @type {(string | { hex: string })[]} */
  const parts = [];
  let from = 0;
  for (let at = 0; at < bytes.length; at++) {
    const end = isJsonStart(bytes, at) ? endOfText(bytes, at) : at;
    if (end - at >= shortestText) {
      parts.push(...digitsOf(bytes.subarray(from, at)), bytes.toString("utf8", at, end));
      from = end;
      at = end - 1;
    }
  }
  return [...parts, ...digitsOf(bytes.subarray(from))];
}

/** @param {Buffer} bytes */
function digitsOf(bytes) {
  return bytes.length === 0 ? [] : [{ hex: bytes.toString("hex") }];
}

/**
 * Whether `{"` or `[` and what may follow it stand there.
 * @param {Buffer} bytes
 * @param {number} at
 */
function isJsonStart(bytes, at) {
  return /^(?:\{"|\[[\d"{[])/.test(bytes.toString("latin1", at, at + 2));
}

/**
 * Where the text that begins there ends: before the first byte that no text has.
 * @param {Buffer} bytes
 * @param {number} start
 */
function endOfText(bytes, start) {
  const control = bytes.subarray(start).findIndex((byte) => byte < 0x20 && byte !== 0x0a);
  let end = control === -1 ? bytes.length : start + control;
  while (end > start && !isText(bytes.subarray(start, end))) {
    end--;
  }
  return end;
}

/** @param {Buffer} bytes */
function isText(bytes) {
  const text = bytes.toString();
  return bytes.length > 0 && Buffer.from(text).equals(bytes) && !/[\p{Cc}\p{Cf}\p{Co}\p{Cn}]/u.test(text.replaceAll("\n", ""));
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  for (const path of process.argv.slice(2)) {
    writeFileSync(path, readable(readFileSync(path, "utf8")));
  }
}
