import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isDecodeError } from "../errors.ts";
import { type DecodeLimits, resolveLimits } from "../options.ts";
import type { PlainEncoding } from "./schema-encoding.ts";

/** One line of a vector file: bytes that another library wrote, and the value that they encode. */
export interface PlainVector {
  readonly name: string;
  readonly from: string;
  readonly base64: string;
  readonly value: unknown;
}

/** The vectors of one plain encoding, which `scripts/vectors/` writes. */
export function plainVectors(encoding: "msgpack" | "cbor"): PlainVector[] {
  const file = join(import.meta.dirname, `../../../../test/vectors/${encoding}/${encoding}.ndjson`);
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as PlainVector);
}

/** The values that JSON cannot hold, in the form that the vectors use for them. */
export function expectedValue(written: unknown): unknown {
  if (Array.isArray(written)) {
    return written.map(expectedValue);
  }
  if (typeof written !== "object" || written === null) {
    return written;
  }
  const entries = Object.entries(written);
  const [tag, content] = entries[0] ?? ["", undefined];
  switch (entries.length === 1 ? tag : "") {
    case "$bigint":
      return BigInt(content as string);
    case "$number":
      return Number(content);
    case "$bytes":
      return Buffer.from(content as string, "hex");
    case "$map":
      return new Map((content as [unknown, unknown][]).map(([key, value]) => [expectedValue(key), expectedValue(value)]));
    default:
      return Object.fromEntries(entries.map(([name, value]) => [name, expectedValue(value)]));
  }
}

/** Decodes in place. Other bytes stand before and after the payload. */
export function decodePlain(encoding: PlainEncoding, payload: Uint8Array, limits: DecodeLimits = {}): unknown {
  const bytes = Buffer.concat([Buffer.from([0xc0, 0x9f, 0x82]), payload, Buffer.from([0xc0, 0xff, 0x01])]);
  return encoding.parse(bytes, 3, 3 + payload.length, resolveLimits(limits));
}

/** The code of the `DecodeError`, or `value`. Any other error is rethrown, because it is a bug. */
export function plainOutcome(encoding: PlainEncoding, payload: Uint8Array, limits: DecodeLimits = {}): string {
  try {
    decodePlain(encoding, payload, limits);
    return "value";
  } catch (error) {
    if (!isDecodeError(error)) {
      throw error;
    }
    return error.code;
  }
}
