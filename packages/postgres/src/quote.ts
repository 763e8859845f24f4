/** A name quoted for SQL, whatever characters it has. https://www.postgresql.org/docs/current/sql-syntax-lexical.html#SQL-SYNTAX-IDENTIFIERS */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A table with its schema. */
export function quoteTable({ schema, name }: { readonly schema: string; readonly name: string }): string {
  return `${quoteName(schema)}.${quoteName(name)}`;
}

/** A literal of a text, whatever `standard_conforming_strings` is. */
export function quoteText(text: string): string {
  const quoted = `'${text.replaceAll("'", "''")}'`;
  return text.includes("\\") ? ` E${quoted.replaceAll("\\", "\\\\")}` : quoted;
}
