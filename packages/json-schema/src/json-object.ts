/** Whether a value of `JSON.parse` is an object. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A keyword's value. A schema's names are data: nothing is looked up in prototypes. */
export function own(node: Record<string, unknown>, keyword: string): unknown {
  return Object.hasOwn(node, keyword) ? node[keyword] : undefined;
}
