/** How a connector is told to write times and decimals. */
export interface Mode {
  readonly time: string;
  readonly decimal: "precise" | "string" | "double";
}

/** Whether an event comes out of the snapshot, which JDBC reads, or out of the database's log. */
export type Phase = "snapshot" | "stream";

/** A column, what is stored in it, and what an event must say about that. */
export interface MatrixColumn {
  readonly name: string;
  readonly type: string;
  /** In SQL, one for each row; a short list begins anew. One more row has null wherever that may be. */
  readonly values: readonly string[];
  /**
   * What the database says of the column, as text.
   * @default the column cast to text
   */
  readonly truth?: string;
  /**
   * From that text to what an event must show. Where Debezium itself changes or drops a value in some mode, it is here that this is said.
   * @default the text itself
   */
  readonly expected?: (text: string, mode: Mode, phase: Phase) => string | null;
  /**
   * An event's value as that text.
   * @default `shown`
   */
  readonly show?: (value: unknown) => string | null;
}

/** A value of an event as text: numbers in their digits, bytes in hex, the rest as JSON. */
export function shown(value: unknown): string | null {
  if (value === null) return null;
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
  return typeof value === "object" ? JSON.stringify(value, plain) : String(value);
}

/** Bytes have told `JSON.stringify` of themselves before it asks here. */
function plain(_: string, value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  return isWrittenBuffer(value) ? Buffer.from(value.data).toString("hex") : value;
}

function isWrittenBuffer(value: unknown): value is { data: number[] } {
  return typeof value === "object" && value !== null && "type" in value && value.type === "Buffer" && "data" in value;
}

export const asDouble = (text: string): string => String(Number(text));
export const asFloat = (text: string): string => String(Math.fround(Number(text)));

/** Decimal text, which only the mode `double` rounds. */
export const asDecimal = (text: string, { decimal }: Mode): string => (decimal === "double" ? asDouble(text) : text);

/** `12:34:56.700` as `12:34:56.7`, whatever follows the seconds. */
export const withoutZeros = (text: string): string =>
  text.replace(/(:\d\d)\.(\d*?)0+(?=\D|$)/, (_, seconds: string, rest: string) => seconds + (rest === "" ? "" : `.${rest}`));

/** A time, or a date and a time, in ISO form, which only the mode `connect` cuts to milliseconds. */
export function asClock(text: string, { time }: Mode): string {
  return withoutZeros((time === "connect" ? text.replace(/(\.\d{3})\d+/, "$1") : text).replace(" ", "T"));
}
