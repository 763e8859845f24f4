import type { RecordHeaders } from "../record.ts";

/** The value of the last header of a name, as serializers read it; null where there is none, or where that one has none. */
export function lastHeader(headers: RecordHeaders, name: string): Buffer | null {
  for (let i = headers.length - 1; i >= 0; i--) {
    const header = headers[i];
    if (header?.[0] === name) {
      const value = header[1];
      return value === null ? null : Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    }
  }
  return null;
}

/** The same as text, where it is short: a name or an id, never a document. */
export function lastHeaderText(headers: RecordHeaders, name: string): string | null {
  const value = lastHeader(headers, name);
  return value === null || value.length > maxTextBytes ? null : value.toString("utf8");
}

const maxTextBytes = 4_096;
