import type { RecordHeaders } from "@cdckit/decode";
import type { Mask } from "./mask.ts";
import { toJsonText } from "../report/json-text.ts";

const strict = new TextDecoder("utf-8", { fatal: true });

/** A header as it is shown: text where the bytes are text. */
type ShownHeader = readonly [name: string, value: string | Uint8Array | null];

/** Headers in their order, also those that are there twice. */
export function shownHeaders(headers: RecordHeaders, mask: Mask): readonly ShownHeader[] {
  return headers.map(([name, bytes]) => [name, shownValue(name, bytes, mask)]);
}

/** Each header as one line. */
export function headerLines(headers: RecordHeaders, mask: Mask): readonly string[] {
  return shownHeaders(headers, mask).map(([name, value]) => `header ${name} = ${typeof value === "string" ? value : toJsonText(value)}`);
}

function shownValue(name: string, bytes: Uint8Array | null, mask: Mask): string | Uint8Array | null {
  if (bytes === null) {
    return null;
  }
  try {
    return mask.header(name, strict.decode(bytes));
  } catch {
    // Bytes that are no text may hold any column, such as a key in Avro: any mask hides them.
    return mask.quote(bytes);
  }
}
