import { beginsWith } from "../same-bytes.ts";
import { missed, stringEnd } from "../json/cursor.ts";

/**
 * The positions of the two halves of `{"schema":S,"payload":P}`. P begins at `payloadStart` and ends one byte before the end of the
 * message.
 */
export interface ConnectSplit {
  readonly schemaEnd: number;
  readonly payloadStart: number;
}

const schemaKey: Buffer = Buffer.from('{"schema":{');
const payloadKey: Buffer = Buffer.from(',"payload":');

/**
 * Finds the halves of a message as JsonConverter writes it: schema first, no white space. Null for any other text. The end of the schema is
 * found by its brackets; its parser checks whether it is JSON and a schema.
 */
export function splitConnectJson(bytes: Buffer, start: number, end: number): ConnectSplit | null {
  if (!beginsWith(bytes, start, end, schemaKey) || bytes[end - 1] !== 0x7d) {
    return null;
  }
  const schemaEnd = objectEnd(bytes, start + schemaKey.length - 1, end);
  return schemaEnd !== missed && beginsWith(bytes, schemaEnd, end, payloadKey)
    ? { schemaEnd, payloadStart: schemaEnd + payloadKey.length }
    : null;
}

/**
 * Whether the message begins with a known `{"schema":S,"payload":`, byte for byte, and ends like such a message. If so, only P is unknown.
 */
export function hasPrefix(bytes: Buffer, start: number, end: number, prefix: Buffer): boolean {
  // The prefix does not contain the brace that closes the message, so that is checked here. Prefixes of other tables mostly have other lengths: the
  // last byte tells them apart before all of them are compared.
  const last = prefix.length - 1;
  return bytes[end - 1] === 0x7d && bytes[start + last] === prefix[last] && beginsWith(bytes, start, end, prefix);
}

/** Whether the object or list at `p` is closed before `end`, so that more than one value stands there. */
export function closesEarly(bytes: Uint8Array, p: number, end: number): boolean {
  const open = bytes[p];
  const close = open === 0x7b ? bracketEnd(bytes, p, end, 0x7b, 0x7d) : open === 0x5b ? bracketEnd(bytes, p, end, 0x5b, 0x5d) : missed;
  return close !== missed && close < end;
}

/** The position after the brace that closes the object at `p`. */
function objectEnd(bytes: Buffer, p: number, end: number): number {
  return bracketEnd(bytes, p, end, 0x7b, 0x7d);
}

function bracketEnd(bytes: Uint8Array, start: number, end: number, open: number, close: number): number {
  let depth = 0;
  for (let p = start; p < end; p++) {
    const byte = bytes[p];
    if (byte === 0x22) {
      p = stringEnd(bytes, p + 1, end);
      if (p === missed) {
        return missed;
      }
    } else if (byte === open) {
      depth++;
    } else if (byte === close && --depth === 0) {
      return p + 1;
    }
  }
  return missed;
}
