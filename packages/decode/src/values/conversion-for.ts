import type { ResolvedValueOptions } from "../options.ts";
import { bitsConversion } from "./bits.ts";
import { copyOf } from "./bytes-text.ts";
import type { Conversion, Semantic } from "./conversion.ts";
import { dateConversion, plainDateConversion } from "./date.ts";
import { avroBigDecimalConversion, decimalConversion, scaleParameter, variableScaleDecimalConversion } from "./decimal.ts";
import { enumConversion } from "./enum-members.ts";
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
import { unitsPerSecondOf } from "./time-units.ts";
import { instantConversion, localTimestampConversion, timestampConversion } from "./timestamp.ts";
import { uuidConversion } from "./uuid.ts";
import { valueInvalid } from "./value-invalid.ts";
import { doubleVectorConversion, floatVectorConversion, sparseVectorConversion } from "./vector.ts";
import { isInt64 } from "./wide-integer.ts";
import { zonedTimestampConversion } from "./zoned.ts";

/** Parses a column's JSON text without rounding its numbers. The JSON encoding implements it and passes it in. */
export type ParseJson = (text: string) => unknown;

/** Makes the conversion of one column; null if its options leave raw values as they are. */
type Make = (semantic: Semantic, options: ResolvedValueOptions, parseJson: ParseJson) => Conversion | null;

/**
 * The conversion of a column's raw values, or null if they stay as they are. Text that needs no conversion (Xml, Ltree, Interval, ZonedTime,
 * ...), numbers that need none (Year, MicroDuration) and unknown names have no conversion.
 */
export function conversionFor(semantic: Semantic, options: ResolvedValueOptions, parseJson: ParseJson): Conversion | null {
  const make = options.time === "raw" ? undefined : temporal.get(semantic.name);
  const conversion = make?.(semantic, options, parseJson) ?? null;
  return conversion === null ? (plain.get(semantic.name)?.(semantic, options, parseJson) ?? null) : ofInt64(semantic.name, conversion);
}

/**
 * A time that refuses more than the 64 bits in which every source counts. Values without a schema can have any number of digits.
 */
function ofInt64(name: string, conversion: Conversion): Conversion {
  const { bigint } = conversion;
  if (bigint === undefined) {
    return conversion;
  }
  return {
    ...conversion,
    bigint: (value) => {
      if (!isInt64(value)) {
        throw valueInvalid(name, "a count in 64 bits", "a larger number");
      }
      return bigint(value);
    },
  };
}

const timeOfDay: Make = ({ name }, options) => timeOfDayConversion(unitsPerSecondOf(name), options);
const timestamp: Make = ({ name }, options) => timestampConversion(unitsPerSecondOf(name), options);
const localTimestamp: Make = ({ name }, options) => localTimestampConversion(unitsPerSecondOf(name), options);
const instant: Make = ({ name }, options) => instantConversion(unitsPerSecondOf(name), options);

const temporal: ReadonlyMap<string, Make> = new Map<string, Make>([
  ["io.debezium.time.Date", ({ name }, options) => dateConversion(name, options)],
  [
    "org.apache.kafka.connect.data.Date",
    ({ name }, options) => ({ ...structuredDateConversion(name, options), ...dateConversion(name, options) }),
  ],
  ["avro.date", ({ name }, options) => plainDateConversion(name, options)],

  ["io.debezium.time.Time", timeOfDay],
  [
    "org.apache.kafka.connect.data.Time",
    ({ name }, options) => ({ ...messageTimeConversion(name, options), ...timeOfDayConversion(unitsPerSecondOf(name), options) }),
  ],
  ["avro.time-millis", timeOfDay],
  ["io.debezium.time.MicroTime", timeOfDay],
  ["avro.time-micros", timeOfDay],
  ["io.debezium.time.NanoTime", timeOfDay],

  ["io.debezium.time.Timestamp", timestamp],
  [
    "org.apache.kafka.connect.data.Timestamp",
    ({ name }, options) => ({ ...messageTimestampConversion(name, options), ...timestampConversion(unitsPerSecondOf(name), options) }),
  ],
  ["avro.local-timestamp-millis", localTimestamp],
  ["io.debezium.time.MicroTimestamp", timestamp],
  ["avro.local-timestamp-micros", localTimestamp],
  ["io.debezium.time.NanoTimestamp", timestamp],
  ["avro.local-timestamp-nanos", localTimestamp],

  ["avro.timestamp-millis", instant],
  ["avro.timestamp-micros", instant],
  ["avro.timestamp-nanos", instant],
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
  ["io.debezium.data.Enum", ({ parameters }) => enumConversion(parameters["allowed"])],
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
