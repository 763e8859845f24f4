import type { ResolvedValueOptions } from "../options.ts";
import { bitsConversion } from "./bits.ts";
import type { Conversion, Semantic } from "./conversion.ts";
import { dateConversion } from "./date.ts";
import { avroBigDecimalConversion, decimalConversion, scaleParameter, variableScaleDecimalConversion } from "./decimal.ts";
import { enumSetConversion } from "./enum-set.ts";
import { circleConversion, geometryConversion, pointConversion } from "./geometry.ts";
import { avroDurationConversion } from "./interval.ts";
import { isoDateConversion, isoTimeConversion, isoTimestampConversion } from "./iso.ts";
import { jsonConversion } from "./json-text.ts";
import {
  structuredDateConversion,
  structuredDurationConversion,
  structuredTimeConversion,
  structuredTimestampConversion,
  structuredZonedTimeConversion,
  structuredZonedTimestampConversion,
} from "./structured.ts";
import { timeOfDayConversion } from "./time-of-day.ts";
import { instantConversion, timestampConversion } from "./timestamp.ts";
import { uuidConversion } from "./uuid.ts";
import { zonedTimestampConversion } from "./zoned.ts";

/** Parses a column's JSON text without rounding its numbers. Belongs to an encoding, and is handed in from there. */
export type ParseJson = (text: string) => unknown;

const millisPerSecond = 1_000;
const microsPerSecond = 1_000_000;
const nanosPerSecond = 1_000_000_000;

/**
 * How a column's raw values become the ones that users see, or null where they stay as they are. Text that is its own value (Uuid, Xml,
 * Enum, Interval, ZonedTime, ...), numbers that are (Year, MicroDuration) and vectors need no conversion; nor do names that we do not know.
 */
export function conversionFor(semantic: Semantic, options: ResolvedValueOptions, parseJson: ParseJson): Conversion | null {
  return (options.time === "raw" ? null : temporalConversion(semantic, options)) ?? plainConversion(semantic, options, parseJson);
}

function temporalConversion({ name }: Semantic, options: ResolvedValueOptions): Conversion | null {
  switch (name) {
    case "io.debezium.time.Date":
    case "org.apache.kafka.connect.data.Date":
    case "avro.date":
      return dateConversion(name, options);
    case "io.debezium.time.Time":
    case "org.apache.kafka.connect.data.Time":
    case "avro.time-millis":
      return timeOfDayConversion(millisPerSecond, options);
    case "io.debezium.time.MicroTime":
    case "avro.time-micros":
      return timeOfDayConversion(microsPerSecond, options);
    case "io.debezium.time.NanoTime":
      return timeOfDayConversion(nanosPerSecond, options);
    case "io.debezium.time.Timestamp":
    case "org.apache.kafka.connect.data.Timestamp":
    case "avro.local-timestamp-millis":
      return timestampConversion(millisPerSecond, options);
    case "io.debezium.time.MicroTimestamp":
    case "avro.local-timestamp-micros":
      return timestampConversion(microsPerSecond, options);
    case "io.debezium.time.NanoTimestamp":
    case "avro.local-timestamp-nanos":
      return timestampConversion(nanosPerSecond, options);
    case "avro.timestamp-millis":
      return instantConversion(millisPerSecond, options);
    case "avro.timestamp-micros":
      return instantConversion(microsPerSecond, options);
    case "avro.timestamp-nanos":
      return instantConversion(nanosPerSecond, options);
    case "io.debezium.time.ZonedTimestamp":
      return zonedTimestampConversion(name, options);
    case "io.debezium.time.IsoDate":
      return isoDateConversion(name, options);
    case "io.debezium.time.IsoTime":
      return isoTimeConversion(name, options);
    case "io.debezium.time.IsoTimestamp":
      return isoTimestampConversion(name, options);
    case "io.debezium.time.StructuredDate":
      return structuredDateConversion(name, options);
    case "io.debezium.time.StructuredTime":
      return structuredTimeConversion(name, options);
    case "io.debezium.time.StructuredTimestamp":
      return structuredTimestampConversion(name, options);
    case "io.debezium.time.StructuredZonedTime":
      return structuredZonedTimeConversion(name);
    case "io.debezium.time.StructuredZonedTimestamp":
      return structuredZonedTimestampConversion(name, options);
    case "io.debezium.time.StructuredDuration":
      return structuredDurationConversion(name);
    default:
      return null;
  }
}

function plainConversion({ name, parameters }: Semantic, options: ResolvedValueOptions, parseJson: ParseJson): Conversion | null {
  switch (name) {
    case "org.apache.kafka.connect.data.Decimal":
      return decimalConversion(name, scaleParameter(parameters["scale"]), options);
    case "avro.decimal":
      return decimalConversion(name, scaleParameter(parameters["scale"] ?? "0"), options);
    case "io.debezium.data.VariableScaleDecimal":
      return variableScaleDecimalConversion(name, options);
    case "avro.big-decimal":
      return avroBigDecimalConversion(name, options);
    case "avro.uuid":
    case "io.debezium.data.Uuid":
      return uuidConversion(name);
    case "avro.duration":
      return avroDurationConversion(name);
    case "io.debezium.data.Bits":
      return bitsConversion(name, parameters["length"], options);
    case "io.debezium.data.EnumSet":
      return enumSetConversion;
    case "io.debezium.data.Json":
      return jsonConversion(name, options.json, parseJson);
    case "io.debezium.data.geometry.Geometry":
    case "io.debezium.data.geometry.Geography":
      return geometryConversion;
    case "io.debezium.data.geometry.Point":
      return pointConversion;
    case "io.debezium.data.geometry.Circle":
      return circleConversion(name);
    default:
      return null;
  }
}
