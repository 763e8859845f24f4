import { type ColumnHintTexts, columnHintsOf, type Type, withoutNull } from "@cdckit/decode";

/** The hints of a table whose schema has changed. */
export interface HintsOverTime {
  /** As the newest schema has the columns, and of columns that it lacks, the last schema that had them. */
  readonly columns: ColumnHintTexts;
  /** The columns whose types have changed: older rows do not fit their hints, and may be read as other values. */
  readonly changed: readonly string[];
}

/** The hints from the rows' schemas, the newest one last. A topic still has rows of columns that are dropped by now. */
export function hintsOverTime(rows: readonly Type[]): HintsOverTime {
  const newest = new Map<string, ColumnHintTexts[string] | undefined>();
  const changed = new Set<string>();
  for (const row of rows.toReversed()) {
    const hints = columnHintsOf(row);
    for (const name of namesOf(row)) {
      if (!newest.has(name)) {
        newest.set(name, hints[name]);
      } else if (JSON.stringify(newest.get(name)) !== JSON.stringify(hints[name])) {
        changed.add(name);
      }
    }
  }
  const hinted = [...newest].flatMap(([name, hint]) => (hint === undefined ? [] : [[name, hint] as const]));
  return { columns: Object.fromEntries(hinted), changed: [...changed] };
}

function namesOf(row: Type): readonly string[] {
  const record = withoutNull(row);
  return record.kind === "record" ? record.fields.map(({ name }) => name) : [];
}
