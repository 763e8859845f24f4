/** The escapes of `java.util.Properties` that stand for another character. */
const escapes: Readonly<Record<string, string>> = { t: "\t", n: "\n", r: "\r", f: "\f" };

/** The entries of a `.properties` text, as `java.util.Properties` reads it: comments, continued lines, three separators, escapes. The last of a name wins. */
export function readProperties(text: string): ReadonlyMap<string, string> {
  const entries = new Map<string, string>();
  for (const line of logicalLines(text)) {
    const [, name = "", value = ""] = /^((?:\\.|[^\\=:\s])*)\s*(?:[=:]\s*)?(.*)$/s.exec(line) ?? [];
    entries.set(unescaped(name), unescaped(value));
  }
  return entries;
}

/** Lines without comments and blank ones; a line that ends in an odd number of backslashes goes on in the next, without its indentation. */
function* logicalLines(text: string): Generator<string> {
  let open: string | null = null;
  for (const natural of text.split(/\r\n|[\r\n]/)) {
    const line: string = natural.replace(/^[ \t\f]+/, "");
    if (open === null && (line === "" || /^[#!]/.test(line))) {
      continue;
    }
    const whole: string = (open ?? "") + line;
    const isContinued = (/\\*$/.exec(line)?.[0].length ?? 0) % 2 === 1;
    open = isContinued ? whole.slice(0, -1) : null;
    if (open === null) {
      yield whole;
    }
  }
  if (open !== null && open !== "") {
    yield open;
  }
}

function unescaped(text: string): string {
  return text.replace(/\\(?:u([0-9a-fA-F]{4})|(.))/gs, (_, code: string | undefined, character: string | undefined) =>
    code === undefined ? (escapes[character ?? ""] ?? character ?? "") : String.fromCharCode(Number.parseInt(code, 16)),
  );
}
