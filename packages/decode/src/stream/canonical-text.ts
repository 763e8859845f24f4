/**
 * One text for values that mean the same key. Names are sorted, and an integer has the same text as a number, a bigint or text. This is
 * needed because the halves of a key change state the other key in a header, which has no types. The recursion is bounded by the depth that
 * the decoder accepts.
 */
export function canonicalText(value: unknown): string {
  if (value instanceof Uint8Array) {
    return JSON.stringify(Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64"));
  }
  if (Array.isArray(value)) {
    return `[${value.map(canonicalText).join()}]`;
  }
  if (value instanceof Map) {
    return canonicalText([...value]);
  }
  const text = textOfInstance(value);
  if (text !== null) {
    return JSON.stringify(text);
  }
  if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
    return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonicalText(field)}`).join()}}`;
  }
  return value === null || value === undefined ? "null" : JSON.stringify(String(value));
}

/**
 * The text of an instance of a class: a `Date`, a `Temporal.PlainDate`, a decimal of the user's own. Null for anything else, and for a class
 * that has no text. What such an instance holds is no property of it, so by their properties all of them would be the same value.
 */
function textOfInstance(value: unknown): string | null {
  const prototype: unknown = typeof value === "object" && value !== null ? Object.getPrototypeOf(value) : null;
  if (prototype === null || prototype === Object.prototype) {
    return null;
  }
  const { toJSON } = value as { readonly toJSON?: unknown };
  const json: unknown = typeof toJSON === "function" ? toJSON.call(value) : null;
  const text = typeof json === "string" ? json : String(value);
  return text.startsWith("[object ") ? null : text;
}
