import { DecodeError } from "../errors.ts";

/** The error for a value that contradicts its column's meaning. `found` describes the value by its shape, never by its content. */
export function valueInvalid(meaning: string, expected: string, found: string): DecodeError {
  return new DecodeError(
    "value-invalid",
    `a column of type ${meaning} needs ${expected}, found ${found}; the schema (or the hint) and the bytes disagree, so check what wrote the message`,
  );
}

/** The shape of a value, without its content. */
export function shapeOf(value: unknown): string {
  if (value === null) {
    return "null";
  }
  if (Array.isArray(value)) {
    return "a list";
  }
  return value instanceof Uint8Array ? "bytes" : `a value of type ${typeof value}`;
}
