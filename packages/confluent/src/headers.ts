import type { RecordHeaders } from "@cdckit/decode";
import type { ClientMessage } from "./low-level-client.ts";

/** The client's headers as a list. Each header is an object with one property, so their order and repeated names are kept. */
export function toRecordHeaders(headers: ClientMessage["headers"]): RecordHeaders {
  return (headers ?? []).map((header) => {
    const name = nameOf(header);
    return [name, valueOf(header, name)] as const;
  });
}

/** Whether the names are exactly these, in this order. Allocates nothing for each name. */
export function headerNamesOf(headers: ClientMessage["headers"], names: readonly string[]): boolean {
  const count = headers?.length ?? 0;
  if (count !== names.length) {
    return false;
  }
  for (let i = 0; i < count; i++) {
    if (nameOf(headers?.[i] ?? {}) !== names[i]) {
      return false;
    }
  }
  return true;
}

/** The client takes a buffer without memory for a header without a value, and no null. The other has memory and no length: an empty value. */
const noValue = Buffer.alloc(0);
const emptyValue = Buffer.alloc(1).subarray(1);

/** Headers in the client's form. */
export function toClientHeaders(headers: RecordHeaders): readonly object[] {
  // The computed name makes "__proto__" a property of its own.
  return headers.map(([name, value]) => ({ [name]: toClientValue(value) }));
}

function toClientValue(value: Uint8Array | null): Buffer {
  if (value === null) {
    return noValue;
  }
  return value.length === 0 ? emptyValue : Buffer.from(value);
}

/** The client sets properties, and setting "__proto__" makes the value the prototype: such a header has no property of its own. */
function nameOf(header: object): string {
  for (const name in header) {
    return Object.hasOwn(header, name) ? name : "__proto__";
  }
  return "__proto__";
}

function valueOf(header: object, name: string): Uint8Array | null {
  const value: unknown = (header as Readonly<Record<string, unknown>>)[name];
  return value instanceof Uint8Array ? value : null;
}
