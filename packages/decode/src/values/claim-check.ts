/** The place of a value that was too large for its message. */
export interface ClaimCheck {
  /** The bucket in the object store. */
  readonly bucket: string;
  /** The key of the object in the bucket. Its content is the value. */
  readonly key: string;
}

const prefix = "__debezium:s3:ref:v1:";
/**
 * The prefix as base64, for bytes in JSON without a schema. The prefix has a multiple of three characters, so its base64 does not depend on
 * the bytes after it.
 */
const base64Prefix = Buffer.from(prefix).toString("base64");

/**
 * The place to which Debezium's S3LargeMessagePostProcessor moved a column's value, or null if the column holds its own value. The decoded
 * column stays a reference, as text or bytes, because the user decides whether to fetch the value.
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
