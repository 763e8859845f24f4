import type { ResolvedValueOptions } from "../options.ts";
import { copyOf } from "./bytes-text.ts";
import type { Conversion } from "./conversion.ts";
import { valueInvalid } from "./value-invalid.ts";

/**
 * The most padding bits that a schema may ask for beyond the bits in the bytes. The length is only text in a schema, but each bit becomes a
 * character.
 */
const maxPadding = 16_384;

/** Debezium's Bits, with the lowest byte first. */
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

/**
 * The bits as SQL writes them, the highest bit first. If the length is not stated, or stands for "any", all bits of the bytes are written.
 */
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
