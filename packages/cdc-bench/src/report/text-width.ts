/** What a terminal that does not say its width has. */
export const defaultColumns = 80;

const ellipsis = "...";

/**
 * How many columns text may take: COLUMNS, or the width of the terminal, or 80. Text for a pipe or a file is not cut: a program that reads it,
 * such as grep, would not find what was cut off.
 */
export function columnsOf(
  env: Readonly<Record<string, string | undefined>>,
  screen: { readonly columns: number | undefined } | undefined,
): number {
  const known = [Number(env["COLUMNS"]), screen?.columns ?? 0].find((columns) => Number.isSafeInteger(columns) && columns >= 20);
  return known ?? (screen === undefined ? Number.POSITIVE_INFINITY : defaultColumns);
}

/** The line, cut to so many columns. Control characters are shown as `?`: a value must not move the cursor. */
export function cutLine(line: string, columns: number): string {
  const shown = printable(line);
  // Code units are never fewer than characters.
  const characters = shown.length <= columns ? null : [...shown];
  return characters === null || characters.length <= columns ? shown : characters.slice(0, columns - ellipsis.length).join("") + ellipsis;
}

/** A sentence on as many lines as it needs, each indented. A word that is too long is cut in two. */
export function wrapLines(text: string, columns: number, indent: string): readonly string[] {
  const room = columns - indent.length;
  const lines: string[] = [];
  let line = "";
  for (const word of printable(text)
    .split(/ +/)
    .flatMap((long) => piecesOf(long, room))) {
    if (line !== "" && line.length + 1 + word.length > room) {
      lines.push(indent + line);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return [...lines, indent + line];
}

function piecesOf(word: string, size: number): readonly string[] {
  return word.length <= size ? [word] : (word.match(new RegExp(`.{1,${size}}`, "gsu")) ?? [word]);
}

/** Control characters, and those that turn the direction of text, as `?`, and space that breaks lines as one space: what is shown must not move the cursor. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\u202a-\u202e\u2066-\u2069]+/gu, (found) => (/^\s+$/.test(found) ? " " : "?"));
}

/** As {@link printable}, of text whose lines stay: a stack trace. */
export function printableLines(text: string): string {
  return text.split("\n").map(printable).join("\n");
}
