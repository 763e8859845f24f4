const invalid = 255;
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const paddingByte = 0x3d;

/** The six bits of each base64 character, or {@link invalid}. */
const sextets: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) => {
  const value = alphabet.indexOf(String.fromCharCode(byte));
  return value < 0 ? invalid : value;
});

/** How many bytes the base64 text between two positions encodes, or -1 if its length or padding is wrong. */
export function base64Length(bytes: Uint8Array, start: number, end: number): number {
  const length = end - start;
  if (length % 4 !== 0) {
    return -1;
  }
  if (length === 0) {
    return 0;
  }
  const padding = bytes[end - 1] !== paddingByte ? 0 : bytes[end - 2] !== paddingByte ? 1 : 2;
  return (length / 4) * 3 - padding;
}

/**
 * Decodes the standard, padded base64 text (Connect writes bytes so) that begins at `start` into `target`, which must have room for {@link
 * base64Length} bytes. Returns whether all characters are in the alphabet.
 */
export function decodeBase64(bytes: Uint8Array, start: number, target: Uint8Array, length: number): boolean {
  let out = 0;
  let p = start;
  for (; out + 3 <= length; p += 4) {
    const a = sextets[bytes[p] as number] as number;
    const b = sextets[bytes[p + 1] as number] as number;
    const c = sextets[bytes[p + 2] as number] as number;
    const d = sextets[bytes[p + 3] as number] as number;
    if ((a | b | c | d) > 63) {
      return false;
    }
    target[out++] = (a << 2) | (b >> 4);
    target[out++] = (b << 4) | (c >> 2);
    target[out++] = (c << 6) | d;
  }
  return out === length || decodeTail(bytes, p, target, out, length);
}

function decodeTail(bytes: Uint8Array, p: number, target: Uint8Array, out: number, length: number): boolean {
  const a = sextets[bytes[p] as number] as number;
  const b = sextets[bytes[p + 1] as number] as number;
  const c = length - out === 2 ? (sextets[bytes[p + 2] as number] as number) : 0;
  if ((a | b | c) > 63) {
    return false;
  }
  target[out] = (a << 2) | (b >> 4);
  if (length - out === 2) {
    target[out + 1] = (b << 4) | (c >> 2);
  }
  return true;
}
