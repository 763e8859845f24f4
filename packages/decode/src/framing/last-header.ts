import type { RecordHeaders } from "../record.ts";

/**
 * The value of the last header with a name, because serializers read the last one. Null if there is no such header, or if its value is
 * null.
 */
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

/** The value of the last header with a name, as text. Null if the value is too long for a name or an id. */
export function lastHeaderText(headers: RecordHeaders, name: string): string | null {
  const value = lastHeader(headers, name);
  return value === null || value.length > maxTextBytes ? null : value.toString("utf8");
}

const maxTextBytes = 4_096;
