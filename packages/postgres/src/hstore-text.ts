/** Whether a column of this type has pairs of texts. The type is an extension's, whose schema may stand before its name. */
export function isHstore(type: string): boolean {
  return /^([^.]+\.)?hstore$/.test(type);
}

/** The pairs that Debezium writes as JSON, in the form of the type's own texts; null if the text is no JSON object. */
export function hstoreTextOf(json: string): string | null {
  let pairs: unknown;
  try {
    pairs = JSON.parse(json);
  } catch {
    return null; // it may be in the type's own form already
  }
  return typeof pairs === "object" && pairs !== null && !Array.isArray(pairs) ? hstoreText(Object.entries(pairs)) : null;
}

/** https://www.postgresql.org/docs/current/hstore.html#HSTORE-EXTERNAL-REP */
export function hstoreText(pairs: Iterable<readonly [unknown, unknown]>): string {
  return [...pairs].map(([name, value]) => `${quoted(name)}=>${value === null ? "NULL" : quoted(value)}`).join(",");
}

function quoted(value: unknown): string {
  return `"${String(value).replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}
