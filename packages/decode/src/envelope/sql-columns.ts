import type { Columns } from "../event.ts";
import { setProperty } from "../set-property.ts";
import type { BytesText } from "../values/sql-bytes.ts";
import { type MembersAs, type SqlConversion, type SqlDialect, SqlTexts } from "../values/sql-text.ts";
import type { EnvelopeScope } from "./envelope.ts";

const textsByScope = new WeakMap<EnvelopeScope, Map<string, SqlTexts>>();

/** The conversions of SQL types on one topic. They are kept for as long as the topic is remembered, so that each type is parsed once. */
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
 * Converts each column of a row by its type. A column without a type stays as it is. The row is changed in place, because nobody else has
 * it and a copy would build a message of many rows twice.
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
