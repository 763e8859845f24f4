import type { ResolvedValueOptions } from "../options.ts";
import { copyOf } from "./bytes-text.ts";
import type { Conversion } from "./conversion.ts";
import { valueInvalid } from "./value-invalid.ts";

/** Bits beyond what the bytes hold that a schema may ask for: its length is text in a schema, and each bit a character. */
const maxPadding = 16_384;

/** Debezium's Bits: the lowest byte first. */
export function bitsConversion(name: string, lengthParameter: string | undefined, options: ResolvedValueOptions): Conversion {
  const length = lengthParameter !== undefined && /^\d{1,10}$/.test(lengthParameter) ? Number(lengthParameter) : null;
  switch (options.bits) {
    case "bytes":
      return { bytes: copyOf };
    case "bigint":
      return { bytes: bitsBigint };
    case "string":
      return { bytes: (bytes, start, end) => bitsText(name, length, bytes, start, end) };
  }
}

function bitsBigint(bytes: Uint8Array, start: number, end: number): bigint {
  return end === start ? 0n : BigInt(`0x${copyOf(bytes, start, end).reverse().toString("hex")}`);
}

/** The highest bit first, as SQL writes it. A length that was not stated, or stands for "any", leaves the bytes' own. */
function bitsText(name: string, length: number | null, bytes: Uint8Array, start: number, end: number): string {
  const held = (end - start) * 8;
  let text = "";
  for (let i = end - 1; i >= start; i--) {
    text += octets[bytes[i] as number];
  }
  if (length === null || length > held + maxPadding) {
    return text;
  }
  if (length >= held) {
    return text.padStart(length, "0");
  }
  if (text.lastIndexOf("1", held - length - 1) !== -1) {
    throw valueInvalid(name, `at most ${length} bits`, "more");
  }
  return text.slice(held - length);
}

const octets: readonly string[] = Object.freeze(Array.from({ length: 256 }, (_, byte) => byte.toString(2).padStart(8, "0")));
