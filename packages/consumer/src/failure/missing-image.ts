import { type CdcEvent, UNAVAILABLE } from "@cdckit/decode";
import { nameOf, readText } from "../user-code/user-value.ts";

/**
 * What a change lacks that the handler has read, as the end of a sentence. Empty if the error does not look like that. The stack names a line of
 * the handler, and a user searches there for what is a setting of the table.
 */
export function whatChangeLacks(error: unknown, event: CdcEvent | null): string {
  if (nameOf(error) !== "TypeError" || event?.kind !== "change") {
    return "";
  }
  const text = readText(error, "message") ?? "";
  if (/\bof null\b|\bnull\b.*\bnot an object\b/.test(text) && event.before === null && (event.op === "update" || event.op === "delete")) {
    return `; the ${event.op} has no before, because its source sends no old rows (PostgreSQL does with REPLICA IDENTITY FULL)`;
  }
  if (/\bSymbol\b/i.test(text) && [event.before, event.after].some((row) => row !== null && Object.values(row).includes(UNAVAILABLE))) {
    return "; the row has a column that is UNAVAILABLE, because its source does not send large columns that did not change";
  }
  return "";
}
