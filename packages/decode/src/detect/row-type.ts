import type { ReadPlan } from "../encoding/reader.ts";
import { type Type, withoutNull } from "../encoding/type.ts";

/** The type of the rows in values of a type that an envelope reads with this plan; null where it reads none. */
export function rowTypeOf(type: Type, { rows }: ReadPlan): Type | null {
  if (rows === "self") {
    return type;
  }
  const record = withoutNull(type);
  if (record.kind !== "record") {
    return null;
  }
  // The image after the change is the row as it is now: the last of the names.
  const field = rows.map((name) => record.fields.find((one) => one.name === name)).findLast((found) => found !== undefined);
  return field === undefined ? null : withoutNull(field.type);
}
