const maxChars = 120;

/** A name from outside, for a message: on one line, and not longer than a line. */
export function quoted(name: string): string {
  return JSON.stringify(name.length > maxChars ? `${name.slice(0, maxChars)}...` : name);
}
