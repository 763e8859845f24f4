const maxChars = 120;

/** A name that others chose, as a message shows it: on one line, and no longer than a line. */
export function quoted(name: string): string {
  return JSON.stringify(name.length > maxChars ? `${name.slice(0, maxChars)}...` : name);
}
