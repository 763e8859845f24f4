import { type Field, type Type, withoutNull } from "../encoding/type.ts";
import type { Semantic } from "../values/conversion.ts";
import type { NativeColumn } from "../values/native-column.ts";
import { typeText } from "./type-text.ts";

/** The type of a column, with its nullability next to it. */
export interface ColumnType {
  /** The type without its meaning: `int`, `string`, `record`, ... */
  readonly kind: Type["kind"];
  /** The semantic type that the column's schema states (`io.debezium.time.MicroTimestamp`), or null. */
  readonly semantic: Semantic | null;
  /** Whether a value may be null. */
  readonly isNullable: boolean;
  /** The column as its database declares it, if the connector propagates that; or null. */
  readonly source: NativeColumn | null;
  /** The whole type as one text. The text of a very large type is cut, and only its beginning is compared. */
  readonly text: string;
}

/**
 * One difference between the columns of two rows. A renamed column is one removed and one added, because a schema does not state renames.
 */
export type ColumnChange =
  | { readonly kind: "added"; readonly column: string; readonly type: ColumnType }
  | { readonly kind: "removed"; readonly column: string; readonly type: ColumnType }
  | { readonly kind: "type-changed"; readonly column: string; readonly from: ColumnType; readonly to: ColumnType }
  | { readonly kind: "made-nullable"; readonly column: string }
  | { readonly kind: "made-required"; readonly column: string };

/**
 * The differences between the columns of two rows: of `SchemaSeen.row`, or of a key. They are in the order of the next schema, followed by
 * the removed columns. Empty if columns only changed places.
 */
export function diffTypes(previous: Type, next: Type): readonly ColumnChange[] {
  const before = columnsOf(previous);
  const after = columnsOf(next);
  const changes: ColumnChange[] = [];
  for (const [column, type] of after) {
    const old = before.get(column);
    changes.push(...(old === undefined ? [{ kind: "added", column, type } as const] : changesOf(column, old, type)));
  }
  for (const [column, type] of before) {
    if (!after.has(column)) {
      changes.push({ kind: "removed", column, type });
    }
  }
  return changes;
}

function changesOf(column: string, from: ColumnType, to: ColumnType): ColumnChange[] {
  const changes: ColumnChange[] = from.text === to.text ? [] : [{ kind: "type-changed", column, from, to }];
  if (from.isNullable !== to.isNullable) {
    changes.push({ kind: to.isNullable ? "made-nullable" : "made-required", column });
  }
  return changes;
}

function columnsOf(row: Type): ReadonlyMap<string, ColumnType> {
  const record = withoutNull(row);
  return new Map((record.kind === "record" ? record.fields : []).map((field) => [field.name, columnType(field)]));
}

function columnType({ type, source: sourceNote }: Field): ColumnType {
  const source = sourceNote ?? null;
  const bare = withoutNull(type);
  const declared = source === null || bare.semantic !== undefined ? "" : ` of ${sourceText(source)}`; // a semantic has it
  return { kind: bare.kind, semantic: bare.semantic ?? null, isNullable: isNullable(type), source, text: `${typeText(bare)}${declared}` };
}

function sourceText({ typeName, length, scale }: NativeColumn): string {
  const digits = [length, scale].filter((number) => number !== null);
  return digits.length === 0 ? typeName : `${typeName}(${digits.join(",")})`;
}

function isNullable(type: Type): boolean {
  return type.kind === "null" || type.kind === "any" || (type.kind === "union" && type.branches.some(({ kind }) => kind === "null"));
}
