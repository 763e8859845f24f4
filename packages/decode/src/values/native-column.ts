/** A column as its database declares it: what a schema-change record says of it, or a schema's `__debezium.source.column.*` parameters. */
export interface NativeColumn {
  /** `timestamptz`, `DECIMAL`, `BIGINT UNSIGNED`, `TIMESTAMP(6) WITH TIME ZONE`: in any case, with or without parameters. */
  readonly typeName: string;
  readonly length: number | null;
  readonly scale: number | null;
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
}

/** What a connector does where its configuration says nothing. */
export function defaultModes(connector: string): ConnectorModes {
  const time = connector === "mysql" || connector === "mariadb" ? "adaptive_time_microseconds" : "adaptive";
  return { time, decimal: "precise", binary: "bytes", unsignedBigint: "long", moneyFractionDigits: 2 };
}

/** The column that a schema's parameters describe (`column.propagate.source.type`), or null where they describe none. */
export function propagatedColumn(parameters: Readonly<Record<string, string>>): NativeColumn | null {
  const stated = (name: string): string | null => {
    const parameter = `__debezium.source.column.${name}`;
    return Object.hasOwn(parameters, parameter) ? (parameters[parameter] ?? null) : null;
  };
  const typeName = stated("type");
  return typeName === null ? null : { typeName, length: integerOrNull(stated("length")), scale: integerOrNull(stated("scale")) };
}

function integerOrNull(text: string | null): number | null {
  return text !== null && /^-?\d{1,9}$/.test(text) ? Number(text) : null;
}
