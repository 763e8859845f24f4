import type { Columns } from "../event.ts";
import { setProperty } from "../set-property.ts";
import type { BytesText } from "../values/sql-bytes.ts";
import { type MembersAs, type SqlConversion, type SqlDialect, SqlTexts } from "../values/sql-text.ts";
import type { EnvelopeScope } from "./envelope.ts";

const textsByScope = new WeakMap<EnvelopeScope, Map<string, SqlTexts>>();

/** What SQL types mean on one topic: remembered with it, so that a type is looked at once. */
export function sqlTextsOf(scope: EnvelopeScope, dialect: SqlDialect, bytes: BytesText, members: MembersAs = "text-or-number"): SqlTexts {
  let known = textsByScope.get(scope);
  if (known === undefined) {
    known = new Map();
    textsByScope.set(scope, known);
  }
  const spelling = `${dialect} ${bytes} ${members}`;
  let texts = known.get(spelling);
  if (texts === undefined) {
    texts = new SqlTexts({ dialect, bytes, members, values: scope.values, parseJson: scope.parseJson, addCost: scope.addCost });
    known.set(spelling, texts);
  }
  return texts;
}

/**
 * A row with each column converted by its type; a column of no type stays as it is. What was read belongs to nobody else: it is converted
 * where it stands, so that a message of many rows is not built twice.
 */
export function convertColumns(row: Columns, conversionOf: (name: string) => SqlConversion | null): Columns {
  for (const name of Object.keys(row)) {
    const convert = conversionOf(name);
    if (convert !== null) {
      setProperty(row, name, convert(row[name]));
    }
  }
  return row;
}
