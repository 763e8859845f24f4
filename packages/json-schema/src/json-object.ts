/** Whether a value of `JSON.parse` is an object. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A keyword's value. Names in a schema are only data, so only own properties are looked up. */
export function own(node: Record<string, unknown>, keyword: string): unknown {
  return Object.hasOwn(node, keyword) ? node[keyword] : undefined;
}
