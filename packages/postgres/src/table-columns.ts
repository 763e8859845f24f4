import { quoteTable, quoteText } from "./quote.ts";
import type { Statements } from "./transaction.ts";

export interface Target {
  readonly schema: string;
  readonly name: string;
}

export interface TableColumn {
  /**
   * Without a length, and of a domain, or an array of one, the type under it: a cast to `varchar(3)`, or to a domain over it, would cut a
   * value off in silence, but writing the value to such a column is an error.
   */
  readonly type: string;
  /** How many characters a `varchar` takes; null if any number, or of another type. */
  readonly maxLength: number | null;
  /** The same of items and of domains, too: PostgreSQL refuses a text that is longer, but drops spaces that are all that is too much. */
  readonly keptLength: number | null;
  /**
   * How many digits after the point a `numeric` keeps, `money`, and a time or an interval of its seconds, items of an array as well; null if all, or of
   * another type.
   */
  readonly maxScale: number | null;
  /** How many units an `interval year to month` keeps, of years, months, days, hours and minutes; null if all, or of another type. */
  readonly keptUnits: number | null;
  /** How many digits before the point a `numeric` takes, items of an array as well; null if any number, or of another type. */
  readonly maxWhole: number | null;
  /** The column's own type is a domain, or an array of one, which no other type takes the place of. */
  readonly isDomain: boolean;
  /** Of an array of a domain, its own type, because PostgreSQL compares it with no other array. Null for other columns. */
  readonly comparedAs: string | null;
  /** The table computes it, and nobody writes it. It may be part of the key, and then it says which row is meant. */
  readonly isGenerated: boolean;
  /** It is `generated always as identity`: rows are inserted with values of their own, and no update may set it. */
  readonly isIdentity: boolean;
  /** Its own type and modifier, as PostgreSQL's catalog has them. They tell whether it was altered. */
  readonly form: string;
  /** Whether its texts are no texts of JSON documents, because its source declares values of several types. It counts in a column of JSON alone. */
  readonly hasPlainTexts: boolean;
}

/** Columns by their names. */
export type TableColumns = ReadonlyMap<string, TableColumn>;

/** The columns that a table has as the transaction sees it; none if there is no table. */
export async function columnsOf(statements: Statements, target: Target, plainTexts: ReadonlySet<string>): Promise<TableColumns> {
  const { rows } = await statements.query({
    text:
      "with recursive under as (select attnum, attname, attgenerated, attidentity, atttypmod, atttypid as own, atttypid as type, 0 as depth, " +
      "atttypid || ' ' || atttypmod as form from pg_attribute " +
      "where attrelid = to_regclass($1) and attnum > 0 and not attisdropped " +
      // Of a domain, and of an array of one, the type under it, whose array is none if that is an array itself.
      "union all select attnum, attname, attgenerated, attidentity, d.typtypmod, own, case d.oid when t.oid then b.oid else b.typarray end, depth + 1, form " +
      "from under join pg_type t on t.oid = type join pg_type d on d.oid in (t.oid, t.typelem) and d.typtype = 'd' " +
      "join pg_type b on b.oid = d.typbasetype and (d.oid = t.oid or b.typarray <> 0)) " +
      "select distinct on (attnum) attname as name, format_type(type, -1) as type, attgenerated::text as generated, attidentity::text as identity, depth > 0 as is_domain, format_type(own, -1) as own_type, form, " +
      // PostgreSQL counts four bytes of its own.
      "case when type = 'varchar'::regtype and atttypmod > 4 and depth = 0 then atttypmod - 4 end as max_length, " +
      "case when type in ('varchar'::regtype, 'varchar[]'::regtype) and atttypmod > 4 then atttypmod - 4 end as kept_length, " +
      // The scale is in the low eleven bits, and has a sign since version 15.
      "case when type in ('numeric'::regtype, 'numeric[]'::regtype) and atttypmod > 4 and (atttypmod - 4) & 1024 = 0 then (atttypmod - 4) & 2047 " +
      "when type in ('time'::regtype, 'timetz'::regtype, 'timestamp'::regtype, 'timestamptz'::regtype, 'time[]'::regtype, 'timetz[]'::regtype, " +
      "'timestamp[]'::regtype, 'timestamptz[]'::regtype) and atttypmod >= 0 then atttypmod " +
      // The low 16 bits, of which all are set if nothing was said. The high ones say which fields are kept.
      "when type in ('interval'::regtype, 'interval[]'::regtype) and atttypmod >= 0 and atttypmod & 65535 < 65535 then atttypmod & 65535 " +
      "when type in ('money'::regtype, 'money[]'::regtype) then scale(0::money::numeric) end as max_scale, " + // lc_monetary decides
      // Each field has a bit, and the smallest one decides: those of seconds, minutes, hours, days, months and years.
      "case when type in ('interval'::regtype, 'interval[]'::regtype) and atttypmod >= 0 and atttypmod >> 16 & 4096 = 0 then case " +
      "when atttypmod >> 16 & 2048 > 0 then 5 when atttypmod >> 16 & 1024 > 0 then 4 when atttypmod >> 16 & 8 > 0 then 3 " +
      "when atttypmod >> 16 & 2 > 0 then 2 else 1 end end as kept_units, " +
      "case when type in ('numeric'::regtype, 'numeric[]'::regtype) and atttypmod > 4 and (atttypmod - 4) & 1024 = 0 " +
      "then ((atttypmod - 4) >> 16) - ((atttypmod - 4) & 2047) end as max_whole from under order by attnum, depth desc",
    values: [quoteTable(target)],
  });
  return new Map(
    rows.map((row) => [
      String(row["name"]),
      {
        type: String(row["type"]),
        maxLength: bound(row["max_length"]),
        keptLength: bound(row["kept_length"]),
        maxScale: bound(row["max_scale"]),
        keptUnits: bound(row["kept_units"]),
        maxWhole: bound(row["max_whole"]),
        isDomain: row["is_domain"] === true,
        comparedAs: row["is_domain"] === true && String(row["type"]).endsWith("[]") ? String(row["own_type"]) : null,
        isGenerated: row["generated"] !== "",
        isIdentity: row["identity"] === "a",
        form: String(row["form"]),
        hasPlainTexts: plainTexts.has(String(row["name"])),
      },
    ]),
  );
}

/** An application may let its pool make something else of integers. */
function bound(found: unknown): number | null {
  return found === null || found === undefined ? null : Number(found);
}

/**
 * A condition of a statement that writes: the table has the columns that are remembered. It is asked after the statement has the lock of the table.
 * Otherwise a value would be cast to the type that its column had before somebody altered it, and only then to that which it has: of a float of
 * before, 15 digits would be left in a `numeric`.
 */
export function isAsRemembered(target: Target, columns: TableColumns): string {
  const known = [...columns].map(([name, { form }]) => `${name} ${form}`).join(",");
  return (
    `(select string_agg(attname || ' ' || atttypid || ' ' || atttypmod, ',' order by attnum) = ${quoteText(known)} from pg_attribute ` +
    `where attrelid = ${quoteText(quoteTable(target))}::regclass and attnum > 0 and not attisdropped)`
  );
}
