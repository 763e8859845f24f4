export const idKey: Buffer = Buffer.from('{"schemaId":');
const payloadKey: Buffer = Buffer.from(',"payload":');
const maxDigits = 19;

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;

/** The id of `{"schemaId":N,"payload":P}` if the text has no white space around these names and no other field; null for any other text. */
export function jsonEnvelopeId(bytes: Buffer, start: number, end: number): string | null {
  const at = jsonPayloadStart(bytes, start, end);
  if (at === 0 || bytes[end - 1] !== 0x7d || valueEnd(bytes, at, end) !== end - 1) {
    return null;
  }
  return bytes.toString("latin1", start + idKey.length, at - payloadKey.length);
}

/** Where the payload begins, or 0 if the text does not begin with `{"schemaId":N,"payload":`. */
export function jsonPayloadStart(bytes: Buffer, start: number, end: number): number {
  if (!standsAt(bytes, start, end, idKey)) {
    return 0;
  }
  const digits = start + idKey.length;
  let at = digits;
  while (at < end && at - digits < maxDigits && isDigit(bytes[at] as number)) {
    at++;
  }
  return at > digits && bytes[digits] !== 0x30 && standsAt(bytes, at, end, payloadKey) ? at + payloadKey.length : 0;
}

/** The position after the value at `p`, found by counting brackets. This does not check the JSON: the parser of the payload does. */
function valueEnd(bytes: Buffer, p: number, end: number): number {
  let depth = 0;
  for (; p < end; p++) {
    const byte = bytes[p] as number;
    if (byte === quote) {
      p = stringEnd(bytes, p + 1, end);
    } else if (byte === 0x7b || byte === 0x5b) {
      depth++;
    } else if (byte === 0x7d || byte === 0x5d) {
      if (depth === 0) {
        return p;
      }
      depth--;
    } else if (byte === comma && depth === 0) {
      return p;
    }
  }
  return end;
}

/** The position of the quote that closes the string. */
function stringEnd(bytes: Buffer, p: number, end: number): number {
  while (p < end && bytes[p] !== quote) {
    p += bytes[p] === backslash ? 2 : 1;
  }
  return p;
}

function standsAt(bytes: Buffer, at: number, end: number, text: Buffer): boolean {
  return at + text.length <= end && bytes.compare(text, 0, text.length, at, at + text.length) === 0;
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}
