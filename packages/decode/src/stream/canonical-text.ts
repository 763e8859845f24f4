/**
 * One text for values that mean the same key. Names are sorted, and an integer has the same text as a number, a bigint or text. This is
 * needed because the halves of a key change state the other key in a header, which has no types. The recursion is bounded by the depth that
 * the decoder accepts.
 */
export function canonicalText(value: unknown): string {
  if (value instanceof Uint8Array) {
    return JSON.stringify(Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64"));
  }
  if (value instanceof Date) {
    return JSON.stringify(value.toJSON());
  }
  if (Array.isArray(value)) {
    return `[${value.map(canonicalText).join()}]`;
  }
  if (value instanceof Map) {
    return canonicalText([...value]);
  }
  if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
    return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonicalText(field)}`).join()}}`;
  }
  return value === null || value === undefined ? "null" : JSON.stringify(String(value));
}
