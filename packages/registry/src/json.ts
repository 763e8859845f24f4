// Answers of registries are three levels deep.
const maxDepth = 32;

const quote = 0x22;
const backslash = 0x5c;

/** Parses JSON in UTF-8 of a limited depth. Throws a `SyntaxError` that quotes nothing of the text. */
export function parseJson(bytes: Uint8Array): unknown {
  return parseJsonWithin(bytes, maxDepth);
}

/** The same, for texts that may be nested deeper. */
export function parseJsonWithin(bytes: Uint8Array, bound: number): unknown {
  if (depthExceeds(bytes, bound)) {
    throw new SyntaxError(`JSON nested deeper than ${bound}`);
  }
  try {
    return JSON.parse(parseText(bytes));
  } catch {
    // The original message quotes the text.
    throw new SyntaxError("not JSON in UTF-8");
  }
}

/** The text of bytes in UTF-8. Throws a `TypeError` that quotes nothing of it. */
export function parseText(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
}

function depthExceeds(bytes: Uint8Array, bound: number): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === quote) {
      inString = !inString;
    } else if (inString) {
      at += byte === backslash ? 1 : 0;
    } else if (byte === 0x5b || byte === 0x7b) {
      depth++;
      if (depth > bound) {
        return true;
      }
    } else if (byte === 0x5d || byte === 0x7d) {
      depth--;
    }
  }
  return false;
}
