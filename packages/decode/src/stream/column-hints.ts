import { type Type, withoutNull } from "../encoding/type.ts";
import type { Semantic } from "../values/conversion.ts";
import { wrongWithSemantic } from "../values/known-semantic.ts";
import { defaultModes, type ConnectorModes, type NativeColumn } from "../values/native-column.ts";
import { nativeSemantic } from "../values/native-semantic.ts";

/** Hints for a topic's `columns`, by the names of the columns. */
export type ColumnHintTexts = Readonly<Record<string, string | Semantic>>;

/** The hints for rows without types, from a schema of the same rows: the meaning of each column, and which columns hold bytes. */
export function columnHintsOf(row: Type): ColumnHintTexts {
  const record = withoutNull(row);
  const fields = record.kind === "record" ? record.fields : [];
  return Object.fromEntries(
    fields.flatMap(({ name, type: column }): [string, string | Semantic][] => {
      const type = withoutNull(column);
      const semantic = hintable(type.semantic) ?? (type.kind === "bytes" ? { name: "bytes", parameters: {} } : undefined);
      return semantic === undefined ? [] : [[name, hintText(semantic)]];
    }),
  );
}

/** The semantic type, if a hint may have it. Schemas may have unknown types, and a decoder refuses hints with unknown types. */
function hintable(semantic: Semantic | undefined): Semantic | undefined {
  return semantic === undefined || wrongWithSemantic(semantic) === null ? semantic : undefined;
}

/** The same hints, from the columns of a table in the database, for a connector with these modes. */
export function columnHintsOfTable(
  connector: string,
  columns: readonly (NativeColumn & { readonly name: string })[],
  modes: ConnectorModes = defaultModes(connector),
): ColumnHintTexts {
  return Object.fromEntries(
    columns.flatMap((column): [string, string | Semantic][] => {
      const semantic = nativeSemantic(connector, column, modes);
      return semantic === null ? [] : [[column.name, hintText(semantic)]];
    }),
  );
}

/** The parameters that affect the meaning of values. Others (propagated source types, precisions) are left out. */
const meaningful: readonly string[] = ["scale", "length", "allowed", "fractionDigits"];

function hintText({ name, parameters }: Semantic): string | Semantic {
  const kept = Object.entries(parameters).filter(([parameter]) => meaningful.includes(parameter));
  return kept.length === 0 ? name : { name, parameters: Object.fromEntries(kept) };
}
