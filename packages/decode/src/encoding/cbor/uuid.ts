export const uuidBytes = 16;

const dash = 0x2d;
/** The character code of the hexadecimal digit for each half of a byte. */
const high: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) => (byte >> 4).toString(16).charCodeAt(0));
const low: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) => (byte & 15).toString(16).charCodeAt(0));

/** A UUID's text. One call makes all of it, because joining slices of it takes longer. All 16 bytes must be there, so none is undefined. */
export function uuidOf(b: Uint8Array, p: number): string {
  // biome-ignore format: one line per group of digits
  return String.fromCharCode(
    high[b[p]!]!, low[b[p]!]!, high[b[p + 1]!]!, low[b[p + 1]!]!, high[b[p + 2]!]!, low[b[p + 2]!]!, high[b[p + 3]!]!, low[b[p + 3]!]!, dash,
    high[b[p + 4]!]!, low[b[p + 4]!]!, high[b[p + 5]!]!, low[b[p + 5]!]!, dash,
    high[b[p + 6]!]!, low[b[p + 6]!]!, high[b[p + 7]!]!, low[b[p + 7]!]!, dash,
    high[b[p + 8]!]!, low[b[p + 8]!]!, high[b[p + 9]!]!, low[b[p + 9]!]!, dash,
    high[b[p + 10]!]!, low[b[p + 10]!]!, high[b[p + 11]!]!, low[b[p + 11]!]!, high[b[p + 12]!]!, low[b[p + 12]!]!,
    high[b[p + 13]!]!, low[b[p + 13]!]!, high[b[p + 14]!]!, low[b[p + 14]!]!, high[b[p + 15]!]!, low[b[p + 15]!]!,
  );
}
