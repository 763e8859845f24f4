import { isDeepStrictEqual } from "node:util";

/** Whether two values hold the same data. Prototypes, which differ between libraries, are no data. */
export function areSameValues(one: unknown, other: unknown): boolean {
  return isDeepStrictEqual(plain(one), plain(other));
}

function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}
