import type { JsonSchemaValidator } from "./json-schema-validator.ts";

/** The form of an int64 column: a number if it is exact and otherwise a bigint, always a bigint, or decimal text. */
export type Int64Mode = "safe" | "bigint" | "string";
/** The form of a JSON number with a fraction or an exponent, if no type says more. */
export type NumberMode = "double" | "exact";
/** The form of a decimal: text with its scale, a double, or the result of the function. */
export type DecimalMode = "string" | "number" | ((unscaled: bigint, scale: number) => unknown);
/** How dates and times become values: ISO text, `Temporal` objects, JavaScript `Date`s, or the number or text that was sent. */
export type TimeMode = "iso" | "temporal" | "date" | "raw";
/** How a JSON column becomes a value: its text, or the parsed value (integers stay exact). */
export type JsonMode = "text" | "parse";
/** How a bit column becomes a value: text of 0 and 1, padded to the length of the column; bytes; or a bigint. */
export type BitsMode = "string" | "bytes" | "bigint";

/**
 * Whether values are checked against the rules of their JSON Schema: `"off"` checks none, `"sampled"` one message in a hundred, `"on"` each
 * message.
 */
export type ValidationMode = "off" | "sampled" | "on";

/** The kind of an Apicurio id: versions of artifacts (global ids), or contents (content ids), each counted from 1. */
export type ApicurioIdSpace = "globalId" | "contentId";

/** How Debezium writes bytes: its `binary.handling.mode`. */
export type BinaryHandling = "bytes" | "base64" | "base64-url-safe" | "hex";

/** The mode; null if none is stated. Throws a `TypeError` with the valid modes if it is unknown. */
export function resolveBinaryHandling(topic: string, mode: BinaryHandling | undefined): BinaryHandling | null {
  if (mode !== undefined && !["bytes", "base64", "base64-url-safe", "hex"].includes(mode)) {
    throw new TypeError(`topics["${topic}"].binaryHandling must be one of bytes, base64, base64-url-safe, hex, got ${String(mode)}`);
  }
  return mode ?? null;
}

/** The forms of values, column type by column type. docs/values.md has the table. */
export interface ValueOptions {
  /**
   * int64 columns, and any integer in JSON.
   * @default "safe"
   */
  readonly int64?: Int64Mode;
  /**
   * JSON numbers with a fraction or an exponent, without a known type.
   * @default "double"
   */
  readonly numbers?: NumberMode;
  /**
   * Decimals, numerics and money.
   * @default "string"
   */
  readonly decimal?: DecimalMode;
  /**
   * Dates, times and timestamps.
   * @default "iso"
   */
  readonly time?: TimeMode;
  /**
   * JSON columns.
   * @default "text"
   */
  readonly json?: JsonMode;
  /**
   * Bit columns.
   * @default "string"
   */
  readonly bits?: BitsMode;
  /**
   * The text that Debezium writes for an unchanged TOAST column (its `unavailable.value.placeholder`).
   * @default "__debezium_unavailable_value"
   */
  readonly unavailablePlaceholder?: string;
  /**
   * The `Temporal` namespace for `time: "temporal"`: a polyfill's, if the runtime has none.
   * @default globalThis.Temporal
   */
  readonly temporal?: TemporalLike | undefined;
}

/** The part of `Temporal` that makes values. */
export interface TemporalLike {
  /** Makes dates. */
  readonly PlainDate: { from(text: string): unknown };
  /** Makes times of day. */
  readonly PlainTime: { from(text: string): unknown };
  /** Makes times without a zone. */
  readonly PlainDateTime: { from(text: string): unknown };
  /** Makes times with an offset. */
  readonly Instant: { from(text: string): unknown };
  /** Makes intervals. */
  readonly Duration: { from(text: string): unknown };
}

/** Every value option present. */
export type ResolvedValueOptions = Required<ValueOptions>;

/** Limits of the cost of one message, for any bytes. */
export interface DecodeLimits {
  /**
   * The largest key or value, in bytes.
   * @default 67_108_864
   */
  readonly maxMessageBytes?: number;
  /**
   * The deepest nesting of values.
   * @default 64
   */
  readonly maxDepth?: number;
  /**
   * The most items that take no bytes (Avro nulls, empty records), counted over the whole message.
   * @default 65_536
   */
  readonly maxZeroByteItems?: number;
  /**
   * The most that values may cost for each byte of the message, in nanoseconds or so on a slow machine: the items of Avro's arrays and
   * maps, and everything in JSON. The limit is needed because a byte can stand for an empty map, and real messages do not have hundreds of
   * thousands of empty maps or of names. The events of a record that packs many are counted too. A message of less than 1 MiB may cost as
   * much as one of 1 MiB. If values are checked against their JSON Schema, reading a message may use half of the budget, and checking it
   * the other half.
   *
   * The most expensive recorded JSON message, 13 KB with its schema, costs 0.4% of its budget, 12 for each of its bytes. Rows of many short
   * columns cost up to 25 for each byte, and JSON of a few dozen bytes up to 40.
   * @default 40
   */
  readonly maxCostPerByte?: number;
  /**
   * The longest schema text, in characters. It is also the most characters of schemas inside of messages that are remembered for a topic's
   * keys or values.
   * @default 4_194_304
   */
  readonly maxSchemaChars?: number;
  /**
   * The most compiled schemas that are kept for a topic's keys, and as many for its values.
   * @default 1_000
   */
  readonly maxSchemas?: number;
  /**
   * The most topics whose detected format is remembered.
   * @default 10_000
   */
  readonly maxTopics?: number;
}

/** Every limit present. */
export type ResolvedLimits = Required<DecodeLimits>;

export const valueDefaults: ResolvedValueOptions = Object.freeze({
  int64: "safe",
  numbers: "double",
  decimal: "string",
  time: "iso",
  json: "text",
  bits: "string",
  unavailablePlaceholder: "__debezium_unavailable_value",
  temporal: undefined,
});

export const limitDefaults: ResolvedLimits = Object.freeze({
  maxMessageBytes: 67_108_864,
  maxDepth: 64,
  maxZeroByteItems: 65_536,
  maxCostPerByte: 40,
  maxSchemaChars: 4_194_304,
  maxSchemas: 1_000,
  maxTopics: 10_000,
});

const valueChoices: Readonly<Record<string, readonly string[]>> = {
  int64: ["safe", "bigint", "string"],
  numbers: ["double", "exact"],
  decimal: ["string", "number"],
  time: ["iso", "temporal", "date", "raw"],
  json: ["text", "parse"],
  bits: ["string", "bytes", "bigint"],
};

/** All value options with their defaults. Throws a `TypeError` that names a wrong option. */
export function resolveValueOptions(options: ValueOptions = {}): ResolvedValueOptions {
  const resolved: ResolvedValueOptions = { ...valueDefaults, ...options };
  for (const [name, choices] of Object.entries(valueChoices)) {
    const chosen: unknown = resolved[name as keyof ResolvedValueOptions];
    const isOwnDecimal = name === "decimal" && typeof chosen === "function";
    if (!isOwnDecimal && !choices.includes(chosen as string)) {
      throw new TypeError(`values.${name} must be one of ${choices.join(", ")}, got ${String(chosen)}`);
    }
  }
  if (resolved.time !== "temporal") {
    return Object.freeze(resolved);
  }
  const temporal = resolved.temporal ?? (globalThis as { Temporal?: TemporalLike }).Temporal;
  if (temporal === undefined) {
    throw new TypeError('values.time "temporal" needs Temporal, which this runtime lacks: pass a polyfill as values.temporal');
  }
  return Object.freeze({ ...resolved, temporal });
}

/** All limits with their defaults. Throws a `RangeError` that names a wrong limit. */
export function resolveLimits(options: DecodeLimits = {}): ResolvedLimits {
  const resolved: ResolvedLimits = { ...limitDefaults, ...options };
  for (const [name, value] of Object.entries(resolved)) {
    if (!Object.hasOwn(limitDefaults, name)) {
      const renamed = name === "maxWeightPerByte" ? "; it is called maxCostPerByte now" : "";
      throw new RangeError(`limits.${name} is no limit${renamed}; there are ${Object.keys(limitDefaults).join(", ")}`);
    }
    if (!Number.isSafeInteger(value) || value < 1) {
      throw new RangeError(`limits.${name} must be a positive integer, got ${String(value)}`);
    }
  }
  return Object.freeze(resolved);
}

/** How values are checked against their JSON Schema. */
export interface ResolvedValidation {
  /** Makes the checks of a schema, once. */
  readonly validator: JsonSchemaValidator;
  /** One message in this number of messages is checked. */
  readonly interval: number;
}

const intervals: Readonly<Record<Exclude<ValidationMode, "off">, number>> = { sampled: 100, on: 1 };

/** The validation of values; null if they are not checked. Throws a `TypeError` that says what is wrong and what to write. */
export function resolveValidation(mode: ValidationMode | undefined, validator: JsonSchemaValidator | undefined): ResolvedValidation | null {
  const chosen = mode ?? (validator === undefined ? "off" : "on");
  if (chosen !== "off" && chosen !== "sampled" && chosen !== "on") {
    throw new TypeError(`validation must be one of off, sampled, on, got ${String(chosen)}`);
  }
  if (validator !== undefined && typeof (validator as Partial<JsonSchemaValidator> | null)?.compile !== "function") {
    throw new TypeError(`jsonSchemaValidator must be a validator, such as that of @cdckit/json-schema, got ${typeof validator}`);
  }
  if (chosen === "off") {
    return null;
  }
  if (validator === undefined) {
    throw new TypeError(
      `validation "${chosen}" needs a validator, and none was given. Install one (npm install @cdckit/json-schema), import { jsonSchemaValidator } from "@cdckit/json-schema", and write { validation: "${chosen}", jsonSchemaValidator }`,
    );
  }
  return { validator, interval: intervals[chosen] };
}

/** The kind of ids; null if none is stated. Throws a `TypeError` with the valid kinds if it is unknown. */
export function resolveApicurioIds(space: ApicurioIdSpace | undefined): ApicurioIdSpace | null {
  if (space !== undefined && space !== "globalId" && space !== "contentId") {
    throw new TypeError(`apicurioIds must be globalId or contentId, got ${String(space)}`);
  }
  return space ?? null;
}
