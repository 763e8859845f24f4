import type { ResolvedValueOptions } from "../options.ts";
import { bitsConversion } from "./bits.ts";
import { copyOf } from "./bytes-text.ts";
import type { Conversion, Semantic } from "./conversion.ts";
import { dateConversion, plainDateConversion } from "./date.ts";
import { avroBigDecimalConversion, decimalConversion, scaleParameter, variableScaleDecimalConversion } from "./decimal.ts";
import { enumSetConversion } from "./enum-set.ts";
import { circleConversion, geometryConversion, lineConversion, pointConversion } from "./geometry.ts";
import { avroDurationConversion } from "./interval.ts";
import { isoDateConversion, isoTimeConversion, isoTimestampConversion } from "./iso.ts";
import { jsonConversion } from "./json-text.ts";
import { messageTimeConversion, messageTimestampConversion } from "./protobuf-message.ts";
import {
  structuredDateConversion,
  structuredDurationConversion,
  structuredTimeConversion,
  structuredTimestampConversion,
  structuredZonedTimeConversion,
  structuredZonedTimestampConversion,
} from "./structured.ts";
import { tidbConversion, tidbSemantics } from "./tidb-column.ts";
import { timeOfDayConversion } from "./time-of-day.ts";
import { instantConversion, localTimestampConversion, timestampConversion } from "./timestamp.ts";
import { uuidConversion } from "./uuid.ts";
import { doubleVectorConversion, floatVectorConversion, sparseVectorConversion } from "./vector.ts";
import { zonedTimestampConversion } from "./zoned.ts";

/** Parses a column's JSON text without rounding its numbers. The JSON encoding implements it and passes it in. */
export type ParseJson = (text: string) => unknown;

const millisPerSecond = 1_000;
const microsPerSecond = 1_000_000;
const nanosPerSecond = 1_000_000_000;

/** Makes the conversion of one column; null if its options leave raw values as they are. */
type Make = (semantic: Semantic, options: ResolvedValueOptions, parseJson: ParseJson) => Conversion | null;

/**
 * The conversion of a column's raw values, or null if they stay as they are. Text that needs no conversion (Xml, Enum, Interval, ZonedTime,
 * ...), numbers that need none (Year, MicroDuration) and unknown names have no conversion.
 */
export function conversionFor(semantic: Semantic, options: ResolvedValueOptions, parseJson: ParseJson): Conversion | null {
  const make = (options.time === "raw" ? undefined : temporal.get(semantic.name)) ?? plain.get(semantic.name);
  return make === undefined ? null : make(semantic, options, parseJson);
}

const temporal: ReadonlyMap<string, Make> = new Map<string, Make>([
  ["io.debezium.time.Date", ({ name }, options) => dateConversion(name, options)],
  [
    "org.apache.kafka.connect.data.Date",
    ({ name }, options) => ({ ...structuredDateConversion(name, options), ...dateConversion(name, options) }),
  ],
  ["avro.date", ({ name }, options) => plainDateConversion(name, options)],

  ["io.debezium.time.Time", (_, options) => timeOfDayConversion(millisPerSecond, options)],
  [
    "org.apache.kafka.connect.data.Time",
    ({ name }, options) => ({ ...messageTimeConversion(name, options), ...timeOfDayConversion(millisPerSecond, options) }),
  ],
  ["avro.time-millis", (_, options) => timeOfDayConversion(millisPerSecond, options)],
  ["io.debezium.time.MicroTime", (_, options) => timeOfDayConversion(microsPerSecond, options)],
  ["avro.time-micros", (_, options) => timeOfDayConversion(microsPerSecond, options)],
  ["io.debezium.time.NanoTime", (_, options) => timeOfDayConversion(nanosPerSecond, options)],

  ["io.debezium.time.Timestamp", (_, options) => timestampConversion(millisPerSecond, options)],
  [
    "org.apache.kafka.connect.data.Timestamp",
    ({ name }, options) => ({ ...messageTimestampConversion(name, options), ...timestampConversion(millisPerSecond, options) }),
  ],
  ["avro.local-timestamp-millis", (_, options) => localTimestampConversion(millisPerSecond, options)],
  ["io.debezium.time.MicroTimestamp", (_, options) => timestampConversion(microsPerSecond, options)],
  ["avro.local-timestamp-micros", (_, options) => localTimestampConversion(microsPerSecond, options)],
  ["io.debezium.time.NanoTimestamp", (_, options) => timestampConversion(nanosPerSecond, options)],
  ["avro.local-timestamp-nanos", (_, options) => localTimestampConversion(nanosPerSecond, options)],

  ["avro.timestamp-millis", (_, options) => instantConversion(millisPerSecond, options)],
  ["avro.timestamp-micros", (_, options) => instantConversion(microsPerSecond, options)],
  ["avro.timestamp-nanos", (_, options) => instantConversion(nanosPerSecond, options)],
  ["io.debezium.time.ZonedTimestamp", ({ name }, options) => zonedTimestampConversion(name, options)],

  ["io.debezium.time.IsoDate", ({ name }, options) => isoDateConversion(name, options)],
  ["io.debezium.time.IsoTime", ({ name }, options) => isoTimeConversion(name, options)],
  ["io.debezium.time.IsoTimestamp", ({ name }, options) => isoTimestampConversion(name, options)],

  ["io.debezium.time.StructuredDate", ({ name }, options) => structuredDateConversion(name, options)],
  ["io.debezium.time.StructuredTime", ({ name }, options) => structuredTimeConversion(name, options)],
  ["io.debezium.time.StructuredTimestamp", ({ name }, options) => structuredTimestampConversion(name, options)],
  ["io.debezium.time.StructuredZonedTime", ({ name }) => structuredZonedTimeConversion(name)],
  ["io.debezium.time.StructuredZonedTimestamp", ({ name }, options) => structuredZonedTimestampConversion(name, options)],
  ["io.debezium.time.StructuredDuration", ({ name }) => structuredDurationConversion(name)],
]);

const plain: ReadonlyMap<string, Make> = new Map<string, Make>([
  [
    "org.apache.kafka.connect.data.Decimal",
    ({ name, parameters }, options) => decimalConversion(name, scaleParameter(parameters["scale"]), options),
  ],
  ["avro.decimal", ({ name, parameters }, options) => decimalConversion(name, scaleParameter(parameters["scale"] ?? "0"), options)],
  ["io.debezium.data.VariableScaleDecimal", ({ name }, options) => variableScaleDecimalConversion(name, options)],
  ["avro.big-decimal", ({ name }, options) => avroBigDecimalConversion(name, options)],
  ["bytes", () => ({ bytes: copyOf })], // only hints have this name, because schemas have a type for it
  ["avro.uuid", ({ name }) => uuidConversion(name)],
  ["avro.duration", ({ name }) => avroDurationConversion(name)],
  ["io.debezium.data.Bits", ({ name, parameters }, options) => bitsConversion(name, parameters["length"], options)],
  ["io.debezium.data.EnumSet", () => enumSetConversion],
  ["io.debezium.data.Json", ({ name }, options, parseJson) => jsonConversion(name, options.json, parseJson)],
  ["io.debezium.data.geometry.Geometry", () => geometryConversion],
  ["io.debezium.data.geometry.Geography", () => geometryConversion],
  ["io.debezium.data.geometry.Point", () => pointConversion],
  ["io.debezium.data.geometry.Circle", ({ name }) => circleConversion(name)],
  ["io.debezium.data.geometry.Line", () => lineConversion],
  ["io.debezium.data.DoubleVector", ({ name }) => doubleVectorConversion(name)],
  ["io.debezium.data.FloatVector", ({ name }) => floatVectorConversion(name)],
  ["io.debezium.data.SparseDoubleVector", ({ name }) => sparseVectorConversion(name)],
  ...tidbSemantics.map((name): [string, Make] => [name, tidbConversion]),
]);

/** The names of all semantic types that {@link conversionFor} converts. */
export const convertedSemantics: ReadonlySet<string> = new Set([...temporal.keys(), ...plain.keys()]);
