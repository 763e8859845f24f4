import { maxDecimalBytes, scaleParameter } from "../values/decimal.ts";
import { decimalText } from "../values/decimal-text.ts";
import { readWideInteger } from "../values/wide-integer.ts";
import { type DefaultValue, type Type, withoutNull } from "./type.ts";

/** What their schemas say as a number or as text is what a column has. */
const plainMeanings: ReadonlySet<string> = new Set([
  "io.debezium.data.Enum",
  "io.debezium.data.EnumSet",
  "io.debezium.data.Json",
  "io.debezium.data.Uuid",
  "io.debezium.time.Year",
]);
const decimals: ReadonlySet<string> = new Set(["org.apache.kafka.connect.data.Decimal", "avro.decimal"]);

/**
 * The default that a schema gives a column, from the JSON of the schema. Null if there is none, or if its type is not a plain one: that of a time
 * may stand for the moment of the insert, which is another one for each row. `bytesAs`: how the schema language writes bytes as text.
 */
export function defaultValueOf(type: Type, json: unknown, bytesAs: "base64" | "latin1"): DefaultValue | null {
  const inner = withoutNull(type);
  const { kind, semantic } = inner;
  if (semantic !== undefined && decimals.has(semantic.name)) {
    const scale = scaleParameter(semantic.parameters["scale"] ?? "0");
    return (kind === "bytes" || kind === "fixed") && typeof json === "string" && scale !== null ? decimalOf(json, scale, bytesAs) : null;
  }
  if (semantic !== undefined && !plainMeanings.has(semantic.name)) {
    return null;
  }
  switch (kind) {
    case "boolean":
      return typeof json === "boolean" ? json : null;
    case "int":
    case "long":
      return typeof json === "bigint" || Number.isSafeInteger(json) ? (json as bigint | number) : null;
    case "float":
    case "double":
      return typeof json === "number" && Number.isFinite(json) ? json : null;
    case "string":
    case "enum":
      return typeof json === "string" ? json : null;
    default:
      return null;
  }
}

function decimalOf(json: string, scale: number, bytesAs: "base64" | "latin1"): string | null {
  const bytes = Buffer.from(json, bytesAs);
  return bytes.length === 0 || bytes.length > maxDecimalBytes ? null : decimalText(readWideInteger(bytes, 0, bytes.length), scale);
}
