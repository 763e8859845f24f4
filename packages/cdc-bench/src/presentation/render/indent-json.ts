/**
 * JSON text on lines of its own, indented, and otherwise as it was: no number is read, so none is rounded. The text must be JSON. Lists of
 * numbers stay on one line.
 */
export function indentJson(text: string): string {
  const parts: string[] = [];
  let depth = 0;
  const line = (): string => `\n${"  ".repeat(depth)}`;
  for (let at = 0; at < text.length; ) {
    const end = tokenEnd(text, at);
    const token = text.slice(at, end);
    at = end;
    if (token === "{" || token === "[") {
      depth++;
      parts.push(token, line());
    } else if (token === "}" || token === "]") {
      depth--;
      parts.push(line(), token);
    } else if (token === ",") {
      parts.push(token, line());
    } else {
      parts.push(token === ":" ? ": " : token.trim());
    }
  }
  return parts.join("");
}

/** Not a regular expression: those run out of stack on strings of megabytes. */
function tokenEnd(text: string, start: number): number {
  switch (text[start]) {
    case '"':
      return stringEnd(text, start);
    case "[":
      return plainListEnd(text, start) ?? start + 1;
    case "{":
      return emptyEnd(text, start) ?? start + 1;
    case "]":
    case "}":
    case ",":
    case ":":
      return start + 1;
    default:
      return scan(text, start + 1, (character) => !'{}[],:"'.includes(character));
  }
}

function stringEnd(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') {
    at += text[at] === "\\" ? 2 : 1;
  }
  return at + 1;
}

/** Where a list ends that holds numbers alone, or nothing. */
function plainListEnd(text: string, start: number): number | undefined {
  const end = scan(text, start + 1, (character) => "0123456789.,eE+- \t\r\n".includes(character));
  return text[end] === "]" ? end + 1 : undefined;
}

function emptyEnd(text: string, start: number): number | undefined {
  const end = scan(text, start + 1, (character) => " \t\r\n".includes(character));
  return text[end] === "}" ? end + 1 : undefined;
}

function scan(text: string, start: number, isInside: (character: string) => boolean): number {
  let at = start;
  while (at < text.length && isInside(text[at] as string)) {
    at++;
  }
  return at;
}
