import type { Columns } from "../event.ts";
import { setProperty } from "../set-property.ts";
import type { Origin } from "./origin.ts";

/** The columns with these names, or null if there are no names or the row lacks one of them. */
export function keyColumns(row: Columns | null, names: readonly string[]): Columns | null {
  if (row === null || names.length === 0) {
    return null;
  }
  const key: Columns = {};
  for (const name of names) {
    if (!Object.hasOwn(row, name)) {
      return null;
    }
    setProperty(key, name, row[name]);
  }
  return key;
}

/** The origin with the key that the envelope states. If it states none, the origin keeps the record's key. */
export function withKey(origin: Origin, key: Columns | null): Origin {
  return key === null ? origin : origin.withKey(key);
}

/** No database allows this many columns in a key. Without a limit, a list as long as the message would be searched for each of its rows. */
const maxKeyColumns = 64;

/** The names in a list, as envelopes state their primary keys; empty if the value is not a list, or too long a one. */
export function namesOf(value: unknown): readonly string[] {
  return Array.isArray(value) && value.length <= maxKeyColumns ? value.filter((name) => typeof name === "string") : [];
}
