import type { ColumnHints } from "../../encoding/reader.ts";
import { type Field, type Type, withoutNull } from "../../encoding/type.ts";

/**
 * The type of rows whose schema cannot say what a column means, with what the hints say: the columns' values are those of the hinted types.
 * What a schema does say comes first, as for the values.
 */
export function hintedRow(row: Type, hinted: ColumnHints): Type {
  const record = withoutNull(row);
  if (record.kind !== "record" || hinted.size === 0) {
    return row;
  }
  const fields = record.fields.map((field): Field => {
    const semantic = hinted.get(field.name);
    const inner = withoutNull(field.type);
    return semantic === undefined || inner.kind === "union" || inner.semantic !== undefined
      ? field
      : { ...field, type: withInner(field.type, { ...inner, semantic }) };
  });
  return withInner(row, { ...record, fields });
}

/** The type with another one in place of what is beside null. */
function withInner(type: Type, inner: Type): Type {
  return type.kind === "union" ? { ...type, branches: type.branches.map((branch) => (branch.kind === "null" ? branch : inner)) } : inner;
}
