/** Where a value is that was too large for its message. */
export interface ClaimCheck {
  readonly bucket: string;
  readonly key: string;
}

const prefix = "__debezium:s3:ref:v1:";
/** Of bytes in JSON without a schema. As many characters as the prefix has divide by three, so its base64 does not depend on what follows. */
const base64Prefix = Buffer.from(prefix).toString("base64");

/**
 * Where Debezium's S3LargeMessagePostProcessor has put a column's value, or null where the value is the column's own. It stays the text
 * (or the bytes) that stands for it: what is fetched, and whether, is not for a decoder to say.
 */
export function claimCheckOf(value: unknown): ClaimCheck | null {
  const text = textOf(value);
  const separator = text === null ? -1 : text.indexOf("|", prefix.length);
  return text === null || separator === -1 ? null : { bucket: text.slice(prefix.length, separator), key: text.slice(separator + 1) };
}

function textOf(value: unknown): string | null {
  if (typeof value === "string") {
    const text = value.startsWith(base64Prefix) ? Buffer.from(value, "base64").toString("utf8") : value;
    return text.startsWith(prefix) ? text : null;
  }
  const isReference = value instanceof Uint8Array && Buffer.compare(value.subarray(0, prefix.length), Buffer.from(prefix)) === 0;
  return isReference ? Buffer.from(value).toString("utf8") : null;
}
