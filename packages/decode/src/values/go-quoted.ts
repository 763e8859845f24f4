const backslash = 0x5c;

/** The short escapes, such as `\n`: the code of the letter, and the byte that it stands for. */
const simpleEscapes: ReadonlyMap<number, number> = new Map(
  Object.entries({ a: 7, b: 8, f: 12, n: 10, r: 13, t: 9, v: 11, "\\": backslash, "'": 0x27, '"': 0x22 }).map(([letter, byte]) => [
    letter.charCodeAt(0),
    byte,
  ]),
);

/** How many hexadecimal digits follow `\x`, `\u` and `\U`. The first stands for a byte, the others for a character. */
const digitsAfter: ReadonlyMap<number, number> = new Map([
  [0x78, 2],
  [0x75, 4],
  [0x55, 8],
]);

/** The bytes of a text that Go's `strconv.Quote` wrote, without the quotes around it; null if the text does not have that form. */
export function bytesOfGoQuoted(text: string): Buffer | null {
  const target = Buffer.allocUnsafe(Buffer.byteLength(text, "utf8")); // every escape is longer than its bytes
  let length = 0;
  for (let at = 0; at < text.length; ) {
    if (text.charCodeAt(at) !== backslash) {
      const next = text.indexOf("\\", at);
      const end = next < 0 ? text.length : next;
      length += target.write(text.slice(at, end), length, "utf8");
      at = end;
      continue;
    }
    const letter = text.charCodeAt(at + 1);
    const digits = digitsAfter.get(letter) ?? 0;
    const code = digits === 0 ? simpleEscapes.get(letter) : hexadecimal(text.slice(at + 2, at + 2 + digits), digits);
    if (code === undefined || code > 0x10ffff) {
      return null;
    }
    length += digits > 2 ? target.write(String.fromCodePoint(code), length, "utf8") : setByte(target, length, code);
    at += 2 + digits;
  }
  return target.subarray(0, length);
}

function hexadecimal(digits: string, length: number): number | undefined {
  return digits.length === length && /^[0-9a-fA-F]+$/.test(digits) ? Number.parseInt(digits, 16) : undefined;
}

function setByte(target: Buffer, at: number, byte: number): 1 {
  target[at] = byte;
  return 1;
}
