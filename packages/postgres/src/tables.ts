import type { Columns, SchemaSeen, TableName } from "@cdckit/decode";
import { UNAVAILABLE, withoutNull } from "@cdckit/decode";
import { columnTypeFor, conversionOf, isWidenedByValue, newColumnTypeFor, typeBeyond, widerType, withoutScale } from "./column-type.ts";
import { createSchema } from "./create-schema.ts";
import { DeclaredColumns, type WantedColumn } from "./declared-columns.ts";
import { PostgresSinkError } from "./errors.ts";
import { checkColumnNames } from "./name-limit.ts";
import type { ResolvedPostgresOptions } from "./options.ts";
import type { PendingRow, PendingTable } from "./pending-rows.ts";
import { quoteName, quoteTable, quoteText } from "./quote.ts";
import { columnsOf, type TableColumns, type Target } from "./table-columns.ts";
import { sourceName } from "./targets.ts";
import type { Statements } from "./transaction.ts";
import { holdsValue } from "./value-fit.ts";

/** What the sink knows about the tables that it writes. Creates and alters them if the options say so. */
export class Tables {
  readonly #options: Pick<ResolvedPostgresOptions, "create" | "widen">;
  readonly #columns = new Map<string, TableColumns>();
  /** By table: what the schemas of its rows declare. */
  readonly #declared = new Map<string, DeclaredColumns>();
  /** By source table: the tables that its rows are written to. */
  readonly #targets = new Map<string, readonly string[]>();
  /** By source table: what its schemas declare, until the first of its rows says which table that is of. */
  readonly #early = new Map<string, DeclaredColumns>();
  /** How often something has come that a look at a table may have missed: a schema, or a change of a table. */
  #news = 0;

  constructor(options: Pick<ResolvedPostgresOptions, "create" | "widen">) {
    this.#options = options;
  }

  /** The tables that rows of the source table are written to are looked at with each batch until they are known to fit. */
  schemaSeen({ table, row, side }: Pick<SchemaSeen, "table" | "row" | "side">): void {
    const record = row === null ? null : withoutNull(row);
    if (table === null || record?.kind !== "record") {
      return;
    }
    const source = sourceName(table);
    for (const name of this.#targets.get(source) ?? []) {
      if (this.#declaredOf(name).add(record.fields, side)) {
        this.#lookAgain(name);
      }
    }
    if (!this.#targets.has(source)) {
      const early = this.#early.get(source) ?? new DeclaredColumns();
      early.add(record.fields, side);
      this.#early.set(source, early);
    }
  }

  /**
   * The columns of the table. Columns that the rows need and the table lacks are added first. Empty if the table does not exist and need not.
   * What was added is not remembered, because other partitions' transactions see it only after the commit of this one.
   */
  async columnsFor(
    statements: Statements,
    { target, sources, rows }: Pick<PendingTable, "target" | "sources" | "rows">,
  ): Promise<{ readonly columns: TableColumns; readonly isChanged: boolean }> {
    const name = quoteTable(target);
    this.#addSources(name, sources);
    const known = this.#columns.get(name);
    if (known !== undefined && rows.every(({ row, key }) => holds(known, row ?? key))) {
      return { columns: known, isChanged: false };
    }
    const newsBefore = this.#news;
    const wanted = this.#wantedOf(target, rows);
    checkColumnNames(target, wanted.keys());
    let present = await this.#look(statements, target);
    const isChanged = present.size === 0 || this.#changesTo(present, wanted, rows).length > 0;
    if (isChanged) {
      this.forget(target); // other partitions look too, and wait below: a cast to the narrower type would refuse the wider values
      // Two partitions that meet a new table together must not both create it. The second one waits, and then finds the table.
      await statements.query({ text: "select pg_advisory_xact_lock(hashtext('cdckit tables'))" });
      present = await this.#look(statements, target);
      await (present.size === 0 ? this.#create(statements, target, wanted, rows) : this.#widen(statements, target, present, wanted, rows));
      present = await this.#look(statements, target);
    }
    // A look that began before the news must not end what came with them.
    if (present.size > 0 && !isChanged && this.#news === newsBefore) {
      this.#columns.set(name, present);
    }
    return { columns: present, isChanged };
  }

  /** Whether the table exists. */
  async has(statements: Statements, target: Target): Promise<boolean> {
    return (await this.#look(statements, target)).size > 0;
  }

  /** The table is looked at again with the next batch. What was created may have been rolled back, and somebody may have altered the table. */
  forget(target: Target): void {
    this.#lookAgain(quoteTable(target));
  }

  /**
   * From here on, the schemas of the sources are the table's. A source has none of its own then: there may be thousands of shards, and each would
   * have the same columns once more.
   */
  #addSources(name: string, sources: ReadonlyMap<string, TableName>): void {
    for (const source of sources.keys()) {
      const names = this.#targets.get(source) ?? [];
      if (!names.includes(name)) {
        const [other] = names;
        const seen = other === undefined ? this.#early.get(source) : this.#declaredOf(other);
        this.#targets.set(source, [...names, name]);
        this.#early.delete(source);
        if (seen !== undefined && this.#declaredOf(name).addAll(seen)) {
          this.#lookAgain(name);
        }
      }
    }
  }

  #declaredOf(name: string): DeclaredColumns {
    const declared = this.#declared.get(name) ?? new DeclaredColumns();
    this.#declared.set(name, declared);
    return declared;
  }

  #lookAgain(name: string): void {
    this.#columns.delete(name);
    this.#news++;
  }

  #look(statements: Statements, target: Target): Promise<TableColumns> {
    return columnsOf(statements, target, this.#declaredOf(quoteTable(target)).plainTexts);
  }

  #wantedOf(target: Target, rows: readonly PendingRow[]): ReadonlyMap<string, WantedColumn> {
    const wanted = new Map<string, WantedColumn>(this.#declaredOf(quoteTable(target)).wanted);
    const add = (name: string, type: string): void => {
      const before = wanted.get(name);
      wanted.set(
        name,
        before === undefined ? { type, isDeclared: false } : { ...before, type: widerType(before.type, type) ?? before.type },
      );
    };
    for (const { key, row } of rows) {
      for (const [name, value] of Object.entries(row ?? key)) {
        const declared = wanted.get(name)?.isDeclared === true ? wanted.get(name)?.type : undefined;
        const type = value === UNAVAILABLE ? null : declared === undefined ? columnTypeFor(value) : typeBeyond(declared, value);
        if (type !== null) {
          add(name, type);
        }
      }
    }
    return wanted;
  }

  async #create(
    statements: Statements,
    target: Target,
    wanted: ReadonlyMap<string, WantedColumn>,
    rows: readonly PendingRow[],
  ): Promise<void> {
    const first = rows.find(({ row }) => row !== null);
    if (first === undefined) {
      return; // nothing to delete
    }
    if (!this.#options.create) {
      throw new PostgresSinkError(
        "schema-mismatch",
        `there is no table ${quoteTable(target)}: create it, name another one by tableFor, or let the sink create it (create: true)`,
      );
    }
    const keys = Object.keys(first.key);
    const names = [...keys, ...[...wanted.keys()].filter((name) => !keys.includes(name))];
    const columns = names.map((name) => {
      const [column, isKey] = [wanted.get(name), keys.includes(name)];
      const type = newTypeOf(column);
      // PostgreSQL has no index of json.
      return `${quoteName(name)} ${isKey && type === "json" ? "jsonb" : type}${column === undefined || isKey ? "" : defaultOf(column)}`;
    });
    await createSchema(statements, target.schema);
    await statements.query({
      text: `create table if not exists ${quoteTable(target)} (${columns.join(", ")}, primary key (${keys.map(quoteName).join(", ")}))`,
    });
  }

  async #widen(
    statements: Statements,
    target: Target,
    present: TableColumns,
    wanted: ReadonlyMap<string, WantedColumn>,
    rows: readonly PendingRow[],
  ): Promise<void> {
    const missing = [...wanted.keys()].filter((name) => !present.has(name) && !isOfKey(name, rows));
    if (!this.#options.widen && missing.length > 0) {
      throw new PostgresSinkError(
        "schema-mismatch",
        `${quoteTable(target)} has no column ${missing.map(quoteName).join(", ")}: add it, or let the sink add it (widen: true)`,
      );
    }
    const changes = this.#changesTo(present, wanted, rows);
    if (changes.length > 0) {
      await alterTable(statements, target, changes);
    }
  }

  /**
   * The changes of `alter table` after which the table holds the wanted columns and types. Without `widen` types stay as they are: values
   * that do not fit are refused when they are written. Integers, floats, dates and texts are widened only for a value that does not fit: the schema of a
   * `varchar(20)` says no length, formats have no `smallint`, and PostgreSQL does not alter a column that a view or a partition key needs.
   */
  #changesTo(present: TableColumns, wanted: ReadonlyMap<string, WantedColumn>, rows: readonly PendingRow[]): readonly string[] {
    return [...wanted].flatMap(([name, column]): string[] => {
      const there = present.get(name);
      if (there === undefined) {
        // Its rows would have no value in an added one, and it no unique constraint. The key is refused when it is written.
        return isOfKey(name, rows) ? [] : [`add column if not exists ${quoteName(name)} ${newTypeOf(column)}${defaultOf(column)}`];
      }
      const isAltered = this.#options.widen && !there.isGenerated && !there.isDomain;
      const wider = isAltered
        ? (widerType(there.type, column.type) ?? (there.maxScale === null && there.keptUnits === null ? null : withoutScale(there.type)))
        : null;
      const isWideEnough =
        wider === null || (isWidenedByValue(there.type, wider) && rows.every(({ row, key }) => holdsValue(there, (row ?? key)[name])));
      return isWideEnough ? [] : [`alter column ${quoteName(name)} type ${wider}${conversionOf(quoteName(name), there.type, wider)}`];
    });
  }
}

/**
 * PostgreSQL rewrites a table whose column gets another type, and a large one takes longer than any other statement may. If that were given up and
 * tried again, it would never be done: PostgreSQL would carry on with the first attempt, and its locks would keep the next one waiting. So it has
 * the time it takes. If its connection is closed meanwhile, PostgreSQL ends it: it looks for that since version 14, and on Windows it cannot.
 */
async function alterTable(statements: Statements, target: Target, changes: readonly string[]): Promise<void> {
  await statements.query({
    text:
      "select set_config(name, '1000', true) from pg_settings where name = 'client_connection_check_interval' " +
      "and version() !~* 'windows|visual c|mingw|msvc'",
  });
  const altering = statements.labelled(`altering ${quoteTable(target)}`, { hasTimeLimit: false });
  await altering.query({ text: `alter table ${quoteTable(target)} ${changes.join(", ")}` });
}

function isOfKey(name: string, rows: readonly PendingRow[]): boolean {
  return rows.some(({ key }) => Object.hasOwn(key, name));
}

/** The type of a column that is made: as the schema says, otherwise so that it holds what later rows may have. */
function newTypeOf(wanted: WantedColumn | undefined): string {
  return wanted === undefined ? "text" : wanted.isDeclared ? wanted.type : newColumnTypeFor(wanted.type);
}

/** For the rows of before the column, which may be in the table, or come only after the schema: a source that adds a column sends no changes of them. */
function defaultOf({ defaultText }: WantedColumn): string {
  return defaultText === undefined ? "" : ` default ${quoteText(defaultText)}`;
}

/** Whether the columns are there, and take the row's numbers and the lengths of its texts. */
function holds(columns: TableColumns, row: Columns): boolean {
  for (const name in row) {
    const column = columns.get(name);
    if (column === undefined ? row[name] !== null : !column.isGenerated && !holdsValue(column, row[name])) {
      return false;
    }
  }
  return true;
}
