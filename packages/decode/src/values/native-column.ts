/** A column in its database's declaration, from a schema-change record or from a schema's `__debezium.source.column.*` parameters. */
export interface NativeColumn {
  /** `timestamptz`, `DECIMAL`, `BIGINT UNSIGNED`, `TIMESTAMP(6) WITH TIME ZONE`: in any case, with or without parameters. */
  readonly typeName: string;
  /** The length or precision, such as 10 of `DECIMAL(10,2)`; null if it is not stated. */
  readonly length: number | null;
  /** The digits after the point, such as 2 of `DECIMAL(10,2)`; null if it is not stated. */
  readonly scale: number | null;
  /** The column's name in its table, if it is stated. The row may have another name for it. */
  readonly name?: string;
}

/** The settings of a Debezium connector that decide how it writes a column's values. */
export interface ConnectorModes {
  /** `time.precision.mode` */
  readonly time?: "adaptive" | "adaptive_time_microseconds" | "connect" | "isostring" | "microseconds" | "nanoseconds" | "structured";
  /** `decimal.handling.mode` */
  readonly decimal?: "precise" | "double" | "string";
  /** `binary.handling.mode` */
  readonly binary?: "bytes" | "base64" | "base64-url-safe" | "hex";
  /** `bigint.unsigned.handling.mode` of MySQL and MariaDB */
  readonly unsignedBigint?: "long" | "precise";
  /** `money.fraction.digits` of PostgreSQL */
  readonly moneyFractionDigits?: number;
  /** `interval.handling.mode` of PostgreSQL */
  readonly interval?: "numeric" | "string";
}

/** The modes of a connector whose configuration does not set them. */
export function defaultModes(connector: string): ConnectorModes {
  const time = connector === "mysql" || connector === "mariadb" ? "adaptive_time_microseconds" : "adaptive";
  return { time, decimal: "precise", binary: "bytes", unsignedBigint: "long", moneyFractionDigits: 2, interval: "numeric" };
}

/**
 * The column that a schema's parameters describe (`column.propagate.source.type`, `datatype.propagate.source.type`). Null if they describe
 * none, or if the argument is not an object.
 */
export function propagatedColumn(parameters: unknown): NativeColumn | null {
  if (typeof parameters !== "object" || parameters === null) {
    return null;
  }
  const declared = (what: string): string | null => {
    const parameter = `__debezium.source.column.${what}`;
    const value: unknown = Object.hasOwn(parameters, parameter) ? (parameters as Record<string, unknown>)[parameter] : null;
    return typeof value === "string" || typeof value === "number" ? String(value) : null;
  };
  const typeName = declared("type");
  const name = declared("name");
  return typeName === null
    ? null
    : { typeName, length: integerOrNull(declared("length")), scale: integerOrNull(declared("scale")), ...(name === null ? {} : { name }) };
}

function integerOrNull(text: string | null): number | null {
  return text !== null && /^-?\d{1,9}$/.test(text) ? Number(text) : null;
}
