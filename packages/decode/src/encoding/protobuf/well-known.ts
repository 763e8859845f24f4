import type { ResolvedValueOptions } from "../../options.ts";
import { calendarFieldsText, daysOf, isOnCalendar } from "../../values/calendar.ts";
import { clockRenderer, dateRenderer } from "../../values/moment.ts";
import { fractionText } from "../../values/digits.ts";
import { valueInvalid } from "../../values/value-invalid.ts";
import type { Message } from "./messages.ts";

/** Makes the value of a well-known message out of its raw fields. */
export type ConvertMessage = (value: Readonly<Record<string, unknown>>) => unknown;

const wrappers: ReadonlySet<string> = new Set(
  ["Double", "Float", "Int64", "UInt64", "Int32", "UInt32", "Bool", "String", "Bytes"].map((name) => `google.protobuf.${name}Value`),
);

/** Whether a message has one field and exists so that the field can be absent. */
export function isWrapper(message: Message): boolean {
  return message.isBuiltIn && wrappers.has(message.fullName);
}

const times: ReadonlyMap<string, (options: ResolvedValueOptions) => ConvertMessage> = new Map([
  ["google.protobuf.Duration", () => duration],
  ["google.type.Date", date],
  ["google.type.TimeOfDay", timeOfDay],
]);

const plains: ReadonlyMap<string, ConvertMessage> = new Map<string, ConvertMessage>([
  ["google.protobuf.Struct", ({ fields }) => fields],
  ["google.protobuf.ListValue", ({ values }) => values],
  ["google.protobuf.Value", valueOf],
]);

/** Whether a message is a JSON value or a part of one. Such a message is read the same way everywhere. */
export function isJson(message: Message): boolean {
  return message.isBuiltIn && plains.has(message.fullName);
}

/** Whether a message is a time or a decimal: users see one value, not fields. */
export function isTimeOrDecimal(message: Message): boolean {
  return message.isBuiltIn && (times.has(message.fullName) || message.fullName === decimalName || message.fullName === timestampName);
}

export const timestampName = "google.protobuf.Timestamp";
export const decimalName = "confluent.type.Decimal";
export const anyName = "google.protobuf.Any";

/** The conversion of Google's own messages; null for all others. */
export function conversionOf(message: Message, options: ResolvedValueOptions): ConvertMessage | null {
  if (!message.isBuiltIn) {
    return null;
  }
  const time = options.time === "raw" ? undefined : times.get(message.fullName);
  return time === undefined ? (plains.get(message.fullName) ?? null) : time(options);
}

function valueOf(kinds: Readonly<Record<string, unknown>>): unknown {
  const { number_value, string_value, bool_value, struct_value, list_value } = kinds;
  return number_value ?? string_value ?? bool_value ?? struct_value ?? list_value ?? null;
}

const maxNanos = 999_999_999;

/** `PT90.5S`, which Google's JSON writes as `90.5s`. It has seconds only, because the message has no minutes and hours. */
function duration(value: Readonly<Record<string, unknown>>): string {
  const name = "google.protobuf.Duration";
  const seconds = integer(name, value, "seconds", -Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
  const nanos = integer(name, value, "nanos", -maxNanos, maxNanos);
  if (seconds * nanos < 0) {
    throw valueInvalid(name, "seconds and nanos of one sign", "two signs");
  }
  const sign = seconds < 0 || nanos < 0 ? "-" : "";
  return `PT${sign}${Math.abs(seconds)}${fractionText(Math.abs(nanos), 9)}S`;
}

/** A field of 0 means that the part is unknown. Such dates stay text in every mode. */
function date(options: ResolvedValueOptions): ConvertMessage {
  const name = "google.type.Date";
  const render = dateRenderer(options);
  return (value) => {
    const year = integer(name, value, "year", -999_999_999, 999_999_999);
    const month = integer(name, value, "month", 0, 12);
    const day = integer(name, value, "day", 0, 31);
    return isOnCalendar(year, month, day) ? render(daysOf(year, month, day)) : calendarFieldsText(year, month, day);
  };
}

function timeOfDay(options: ResolvedValueOptions): ConvertMessage {
  const name = "google.type.TimeOfDay";
  const render = clockRenderer(options);
  return (value) => {
    const hours = integer(name, value, "hours", 0, 24);
    const minutes = integer(name, value, "minutes", 0, 59);
    const seconds = integer(name, value, "seconds", 0, 60);
    return render(false, hours * 3600 + minutes * 60 + seconds, integer(name, value, "nanos", 0, maxNanos));
  };
}

function integer(name: string, value: Readonly<Record<string, unknown>>, field: string, min: number, max: number): number {
  const found = value[field];
  if (typeof found !== "number" || found < min || found > max) {
    throw valueInvalid(name, `an integer field ${field} from ${min} to ${max}`, "another value");
  }
  return found;
}
