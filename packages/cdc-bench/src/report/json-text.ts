const unavailable = Symbol.for("cdckit.unavailable");

/**
 * Decoded values as JSON text that loses nothing: bigints as bare integers, bytes as `{"$bytes":"<base64>"}`, an unavailable column as
 * `{"$unavailable":true}`, NaN and the infinities as strings, a Map as a list of pairs. Properties that are undefined are left out.
 */
export function toJsonText(value: unknown): string {
  switch (typeof value) {
    case "bigint":
      return value.toString();
    case "number":
      return numberText(value);
    case "symbol":
      return value === unavailable ? '{"$unavailable":true}' : JSON.stringify(String(value));
    case "object":
      return value === null ? "null" : objectText(value);
    default:
      return JSON.stringify(value) ?? "null";
  }
}

function numberText(value: number): string {
  if (!Number.isFinite(value)) {
    return `"${value}"`;
  }
  return Object.is(value, -0) ? "-0" : String(value);
}

function objectText(value: object): string {
  if (value instanceof Uint8Array) {
    return `{"$bytes":"${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64")}"}`;
  }
  if (value instanceof Map) {
    return listText([...value]);
  }
  if (Array.isArray(value)) {
    return listText(value);
  }
  // Dates and the Temporal types say themselves how they are written.
  const toJson = (value as { toJSON?: unknown }).toJSON;
  if (typeof toJson === "function" && !Object.hasOwn(value, "toJSON")) {
    return JSON.stringify(value);
  }
  return recordText(value);
}

function listText(items: readonly unknown[]): string {
  return `[${items.map(toJsonText).join(",")}]`;
}

function recordText(value: object): string {
  const properties: string[] = [];
  for (const [name, property] of Object.entries(value)) {
    if (property !== undefined) {
      properties.push(`${JSON.stringify(name)}:${toJsonText(property)}`);
    }
  }
  return `{${properties.join(",")}}`;
}
