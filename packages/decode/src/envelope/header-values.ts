import { isUtf8 } from "node:buffer";
import { parseExactText } from "../encoding/json/exact-text.ts";
import type { KeyChange } from "../event.ts";
import type { RecordHeaders } from "../record.ts";

/**
 * Values of headers that Debezium writes. Which of three ways they are written in depends on Connect's header converter: bare text, a
 * JSON value, or JSON with schema.
 */

/** The text of the last header of that name, or null. */
export function headerText(headers: RecordHeaders, name: string): string | null {
  const value = headerValue(headers, name);
  return typeof value === "string" ? value : null;
}

/** The other key of a primary-key change, or null where the record is no half of one. */
export function keyChangeOf(headers: RecordHeaders): KeyChange | null {
  const newKey = headerValue(headers, "__debezium.newkey");
  if (isKey(newKey)) {
    return { kind: "moved-to", key: newKey };
  }
  const oldKey = headerValue(headers, "__debezium.oldkey");
  return isKey(oldKey) ? { kind: "moved-from", key: oldKey } : null;
}

function isKey(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function headerValue(headers: RecordHeaders, name: string): unknown {
  for (let i = headers.length - 1; i >= 0; i--) {
    const header = headers[i];
    if (header?.[0] === name && header[1] !== null) {
      return parsed(header[1]);
    }
  }
  return null;
}

function parsed(bytes: Uint8Array): unknown {
  const first = bytes[0];
  if (first !== quoteByte && first !== openBrace) {
    return bareText(bytes);
  }
  try {
    const value = parseExactText(bytes);
    return isKey(value) && Object.hasOwn(value, "schema") && Object.hasOwn(value, "payload") ? value["payload"] : value;
  } catch {
    return bareText(bytes); // it only looks like JSON
  }
}

const quoteByte = 0x22;
const openBrace = 0x7b;

function bareText(bytes: Uint8Array): string | null {
  return isUtf8(bytes) ? Buffer.from(bytes).toString("utf8") : null;
}
