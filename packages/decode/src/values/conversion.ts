/**
 * What a column means, and how its raw value becomes the one that users see. Encodings ask here once per column of a schema, and call
 * the answer for every record.
 */

/**
 * The meaning of a column, as its schema states it. `name` is the Connect schema name (`io.debezium.time.MicroTimestamp`), or
 * `avro.` and the logical type where an Avro schema states only that (`avro.timestamp-millis`).
 */
export interface Semantic {
  readonly name: string;
  readonly parameters: Readonly<Record<string, string>>;
}

/**
 * One function for each way in which the raw value can arrive; absent where the semantic type never arrives like that, and the raw value
 * is then handed on as it is. Each throws a `DecodeError` of code `value-invalid` where the value contradicts its meaning.
 */
export interface Conversion {
  /** An integer that a double holds exactly. */
  readonly int?: (value: number) => unknown;
  /** An integer beyond that. */
  readonly bigint?: (value: bigint) => unknown;
  /** A float32 or float64. */
  readonly double?: (value: number) => unknown;
  /** The source text of a JSON number that has a fraction or an exponent. */
  readonly numberText?: (text: string) => unknown;
  readonly text?: (value: string) => unknown;
  /** Bytes in place; the conversion copies what it keeps. */
  readonly bytes?: (bytes: Uint8Array, start: number, end: number) => unknown;
  /** A struct whose fields are raw values: integers as number or bigint, bytes as Buffer. */
  readonly struct?: (value: Readonly<Record<string, unknown>>) => unknown;
  readonly array?: (value: readonly unknown[]) => unknown;
}
