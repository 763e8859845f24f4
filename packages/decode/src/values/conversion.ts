/**
 * The meaning of a column, and the conversion of its raw value into the value that users see. Encodings get the conversion once per column
 * of a schema and call it for every record.
 */

/**
 * The meaning of a column that its schema states. `name` is the Connect schema name (`io.debezium.time.MicroTimestamp`). If an Avro schema
 * states only a logical type, it is `avro.` and that type (`avro.timestamp-millis`).
 */
export interface Semantic {
  /** The Connect schema name, or `avro.` and a logical type. */
  readonly name: string;
  /** What the schema states beside the name, such as `scale`. Empty if nothing. */
  readonly parameters: Readonly<Record<string, string>>;
}

/**
 * One function for each form in which the raw value can arrive. A function is absent if the semantic type never arrives in that form, and
 * the raw value is then passed on as it is. Each function throws a `DecodeError` of code `value-invalid` if the value contradicts its
 * meaning.
 */
export interface Conversion {
  /** An integer that a double holds exactly. */
  readonly int?: (value: number) => unknown;
  /** An integer that a double does not hold exactly. */
  readonly bigint?: (value: bigint) => unknown;
  /** A float32 or float64. */
  readonly double?: (value: number) => unknown;
  /** The source text of a JSON number that has a fraction or an exponent. */
  readonly numberText?: (text: string) => unknown;
  readonly text?: (value: string) => unknown;
  /** Bytes in the message. The conversion copies the bytes that it keeps. */
  readonly bytes?: (bytes: Uint8Array, start: number, end: number) => unknown;
  /** A struct whose fields are raw values: integers as number or bigint, bytes as Buffer. */
  readonly struct?: (value: Readonly<Record<string, unknown>>) => unknown;
  readonly array?: (value: readonly unknown[]) => unknown;
}
