import type { Type } from "../type.ts";

/** The properties of a node that decide whether its logical type is valid. */
interface Declared {
  readonly precision: unknown;
  readonly scale: unknown;
}

const prefix = "avro.";

/**
 * Whether a logical type is valid on this type. "Language implementations must ignore unknown logical types when reading, and should use
 * the underlying Avro type. If a logical type is invalid, for example a decimal with scale greater than its precision, then implementations
 * should ignore the logical type" (https://avro.apache.org/docs/1.12.0/specification/#logical-types).
 */
export function isValidLogicalType(semanticName: string, type: Type, declared: Declared): boolean {
  if (!semanticName.startsWith(prefix)) {
    return true; // a name of Connect's own: Avro's rules do not apply
  }
  switch (semanticName.slice(prefix.length)) {
    case "decimal":
      return isDecimal(type, declared);
    case "big-decimal":
      return type.kind === "bytes";
    case "uuid":
      return type.kind === "string" || (type.kind === "fixed" && type.size === 16);
    case "date":
    case "time-millis":
      return type.kind === "int";
    case "time-micros":
    case "timestamp-millis":
    case "timestamp-micros":
    case "timestamp-nanos":
    case "local-timestamp-millis":
    case "local-timestamp-micros":
    case "local-timestamp-nanos":
      return type.kind === "long";
    case "duration":
      return type.kind === "fixed" && type.size === 12;
    default:
      return true; // unknown names have no conversion, so they change nothing
  }
}

function isDecimal(type: Type, { precision, scale = 0 }: Declared): boolean {
  if (type.kind !== "bytes" && type.kind !== "fixed") {
    return false;
  }
  const max = type.kind === "fixed" ? Math.floor(Math.log10(2) * (8 * type.size - 1)) : Number.POSITIVE_INFINITY;
  return isInteger(precision) && precision > 0 && precision <= max && isInteger(scale) && scale >= 0 && scale <= precision;
}

function isInteger(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value);
}
