import type { ResolvedValueOptions } from "../../options.ts";
import { conversionFor, type ParseJson } from "../../values/conversion-for.ts";
import type { ConvertMessage } from "./well-known.ts";
import type { Message } from "./messages.ts";

/**
 * Debezium's structs as Confluent's converter leaves them: it drops the semantic names of scalars, and names a struct's message by the last
 * part of the struct's name. A message counts as a struct only if it has exactly these fields.
 */
const structs: ReadonlyMap<string, readonly [name: string, fields: readonly string[]]> = new Map([
  ["VariableScaleDecimal", ["io.debezium.data.VariableScaleDecimal", ["scale", "value"]]],
  ["Point", ["io.debezium.data.geometry.Point", ["x", "y", "wkb", "srid"]]],
  ["Geometry", ["io.debezium.data.geometry.Geometry", ["wkb", "srid"]]],
  ["Geography", ["io.debezium.data.geometry.Geography", ["wkb", "srid"]]],
]);

/** The conversion of a column that holds one of Debezium's structs, or null. */
export function debeziumStruct(message: Message, values: ResolvedValueOptions, parseJson: ParseJson): ConvertMessage | null {
  const found = structs.get(message.fullName.slice(message.fullName.lastIndexOf(".") + 1));
  if (found === undefined) {
    return null;
  }
  const [name, fields] = found;
  const isIt = message.fields.length === fields.length && message.fields.every((field) => fields.includes(field.name));
  return isIt ? (conversionFor({ name, parameters: {} }, values, parseJson)?.struct ?? null) : null;
}
