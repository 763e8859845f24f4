import type { UntypedColumns } from "@cdckit/decode";
import { printable } from "./text-width.ts";

const maxColumns = 8;

/** For each topic whose values carry no types, a line about the columns that look as if they had one; empty if there is none. */
export function untypedNotes(untyped: UntypedColumns): string {
  return untyped
    .topics()
    .map((topic) => untypedNote(untyped, topic))
    .join("");
}

/** The same of one topic. */
export function untypedNote(untyped: UntypedColumns, topic: string): string {
  const columns = untyped.of(topic);
  if (columns.length === 0) {
    return "";
  }
  const named = columns.slice(0, maxColumns).map(({ name, looksLike }) => `${name} (${looksLike})`);
  const more = columns.length > maxColumns ? ` and ${columns.length - maxColumns} more` : "";
  const note = `${topic}: the values carry no types, and ${named.join(", ")}${more} may be more than they say; cdc-bench hints --from SOURCE --for ${topic} writes what they are.`;
  return `${printable(note)}\n`;
}
