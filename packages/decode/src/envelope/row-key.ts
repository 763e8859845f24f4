import type { Columns } from "../event.ts";
import { setProperty } from "../set-property.ts";
import type { Origin } from "./origin.ts";

/** The columns of those names, or null where the row lacks one of them, or there are no names. */
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

/** The origin with the key that the envelope states; the record's own stays where it states none. */
export function withKey(origin: Origin, key: Columns | null): Origin {
  return key === null ? origin : origin.withKey(key);
}

/** More columns than a key of any database has: a list of a message's length would be looked through for each of its rows. */
const maxKeyColumns = 64;

/** A list of names, as envelopes state their primary keys; empty where there is none. */
export function namesOf(value: unknown): readonly string[] {
  return Array.isArray(value) && value.length <= maxKeyColumns ? value.filter((name) => typeof name === "string") : [];
}
