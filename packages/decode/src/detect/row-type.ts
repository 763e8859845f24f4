import type { ReadPlan } from "../encoding/reader.ts";
import { type Type, withoutNull } from "../encoding/type.ts";
import { withoutCellTypes } from "../envelope/cell-types.ts";
import type { EnvelopeFormat } from "../envelope/envelope.ts";

/** The type of the rows in a value of this type if an envelope reads it with this plan. Null if there are no rows. */
export function rowTypeOf(type: Type, { rows }: ReadPlan, envelopeFormat: EnvelopeFormat): Type | null {
  if (rows === "self") {
    return withoutMetaColumns(type, envelopeFormat);
  }
  const record = withoutNull(type);
  const fields = record.kind === "record" ? record.fields : [];
  // The last name is the image after the change, which is the current row.
  const field = rows.map((name) => fields.find((one) => one.name === name)).findLast((found) => found !== undefined);
  const image = field === undefined ? null : withoutNull(field.type);
  return image?.kind === "record" ? withoutMetaColumns(withoutCellTypes(image), envelopeFormat) : image;
}

function withoutMetaColumns(type: Type, envelopeFormat: EnvelopeFormat): Type {
  const record = withoutNull(type);
  if (record.kind !== "record" || envelopeFormat.isMetaColumn === undefined) {
    return type;
  }
  const names = record.fields.map(({ name }) => name);
  const columns = record.fields.filter(({ name }) => envelopeFormat.isMetaColumn?.(name, names) !== true);
  return columns.length === names.length ? type : { ...record, fields: columns };
}
