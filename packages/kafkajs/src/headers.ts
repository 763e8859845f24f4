import type { RecordHeaders } from "@cdckit/decode";
import type { IHeaders } from "kafkajs";

/**
 * kafkajs' header object as a list. kafkajs keeps the order of names, except that JavaScript puts names that look like numbers first. It
 * collects the values of a repeated name in one array, so the order among different names is lost if names repeat.
 */
export function toRecordHeaders(headers: IHeaders | undefined): RecordHeaders {
  const list: (readonly [string, Uint8Array | null])[] = [];
  for (const name in headers) {
    const value: unknown = headers[name];
    if (!Array.isArray(value)) {
      list.push([name, bytesOf(value)]);
      continue;
    }
    for (const one of value as unknown[]) {
      if (isHeaderValue(one)) {
        list.push([name, bytesOf(one)]);
      }
    }
  }
  return list;
}

/** Whether the names are exactly these, in this order. Allocates nothing. */
export function headerNamesOf(headers: IHeaders | undefined, names: readonly string[]): boolean {
  let at = 0;
  for (const name in headers) {
    const value: unknown = headers[name];
    const times = Array.isArray(value) ? countValues(value as unknown[]) : 1;
    for (let i = 0; i < times; i++) {
      if (names[at++] !== name) {
        return false;
      }
    }
  }
  return at === names.length;
}

function countValues(values: readonly unknown[]): number {
  let count = 0;
  for (const value of values) {
    count += isHeaderValue(value) ? 1 : 0;
  }
  return count;
}

/** If a header has the name of a property that every object has ("constructor"), kafkajs adds that property as a first value. It is removed. */
function isHeaderValue(value: unknown): boolean {
  return value === null || typeof value === "string" || value instanceof Uint8Array;
}

function bytesOf(value: unknown): Uint8Array | null {
  if (typeof value === "string") {
    return Buffer.from(value);
  }
  return value instanceof Uint8Array ? value : null;
}
