import { NumberText, parseJson } from "./parse.ts";

const maxDepth = 64;

/** What a short JSON text beside a message holds, integers exact. Throws a `DecodeError` where it is not JSON. */
export function parseExactText(bytes: Uint8Array): unknown {
  return withDoubles(parseJson(bytes, 0, bytes.length, { maxDepth, texts: null }));
}

function withDoubles(value: unknown): unknown {
  if (value instanceof NumberText) {
    return Number(value.text);
  }
  if (Array.isArray(value)) {
    return value.map(withDoubles);
  }
  return typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).map(([name, item]) => [name, withDoubles(item)]))
    : value;
}
