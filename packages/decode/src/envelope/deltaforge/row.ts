import type { Columns } from "../../event.ts";
import { setProperty } from "../../set-property.ts";
import { UNAVAILABLE } from "../../values/unavailable.ts";
import { isBlock } from "../source.ts";

/**
 * How DeltaForge marks a PostgreSQL column that was not sent because it did not change: `{"_unchanged":true}`. If a registered schema gives
 * the column a type (Avro), the column holds this text.
 */
const unchangedText = '{"_unchanged":true}';
const unchangedBytes: Buffer = Buffer.from(unchangedText);

/**
 * The row with its columns out of DeltaForge's wrappers. Bytes are wrapped as `{"_base64":"..."}`, MySQL's binary JSON as
 * `{"_base64_json":"..."}`. A value that is not a row is returned as it is.
 */
export function deltaforgeRow(image: unknown, isTyped: boolean): unknown {
  if (!isBlock(image)) {
    return image;
  }
  let row: Columns | null = null;
  for (const name of Object.keys(image)) {
    const value = unwrapped(image[name], isTyped);
    if (value !== undefined) {
      row ??= { ...image };
      setProperty(row, name, value);
    }
  }
  return row ?? image;
}

/** The value in a column's wrapper; undefined if the column has no wrapper. */
function unwrapped(column: unknown, isTyped: boolean): unknown {
  if (isTyped && (column === unchangedText || (Buffer.isBuffer(column) && column.equals(unchangedBytes)))) {
    return UNAVAILABLE;
  }
  if (!isBlock(column) || Buffer.isBuffer(column) || Object.keys(column).length !== 1) {
    return undefined;
  }
  const base64 = column["_base64"] ?? column["_base64_json"];
  if (typeof base64 === "string" && /^[A-Za-z0-9+/]*={0,2}$/.test(base64)) {
    return Buffer.from(base64, "base64");
  }
  return column["_unchanged"] === true ? UNAVAILABLE : undefined;
}
