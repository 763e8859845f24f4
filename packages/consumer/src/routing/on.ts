import type { Columns } from "@cdckit/decode";
import type {
  AnyHandler,
  ControlEvents,
  ControlKind,
  EventHandler,
  KeyedTableHandlers,
  KeyOf,
  OperationFilter,
  RowOf,
  TableHandlers,
} from "./handlers.ts";
import type { KeyChecks, RowChecks } from "./row-checks.ts";

/** Handlers of a table, and the columns that they read. `Column` is `never` if they read whole rows. */
export interface ColumnSelection<Column extends string> extends OperationFilter {
  /**
   * The columns that `before`, `after` and `row` have, in their types too; without it, all. In most encodings the others are skipped in the
   * bytes. Keys, the source and everything else of an event are as always. A column that no row has is a warning and a reason in `health()`.
   * A row type that is given by hand needs them as well: `on<Row, Key, "id" | "state">(pattern, { columns: ["id", "state"], ... })`.
   */
  readonly columns?: readonly Column[];
}

/** Rows with these columns. `Column` is `never` if handlers read whole rows. */
export type SelectedRow<Row, Column extends keyof Row> = [Column] extends [never] ? Row : Pick<Row, Column>;

/** `on` for events that belong to no table, and for what is left. */
export interface OnOther<Self> {
  /** Handles events that belong to no table, by kind: `"heartbeat"`, `"transaction"`, ... */
  <Kind extends ControlKind>(kind: Kind, handler: EventHandler<ControlEvents[Kind]>): Self;
  /** Handles every event that no other handler takes. */
  (pattern: "*", handler: AnyHandler | (TableHandlers & ColumnSelection<string>)): Self;
}

/** `on` for the tables of a map. Its signatures come last: the compiler explains a mistake by the last one that it has tried. */
export interface OnTableOf<Tables extends object, Self> {
  /**
   * Handles the events of a table of the map, by its name there. The `key` of events is not null: its validator among the `checks` has passed it.
   */
  <Name extends keyof Tables & string, Column extends keyof RowOf<Tables[Name]> & string = never>(
    pattern: Name,
    handlers: KeyedTableHandlers<SelectedRow<RowOf<Tables[Name]>, Column>, KeyOf<Tables[Name]>> & ColumnSelection<Column>,
    checks: KeyChecks<SelectedRow<RowOf<Tables[Name]>, Column>, KeyOf<Tables[Name]>>,
  ): Self;
  /** Handles the events of a table of the map, by its name there. `checks` are validators that rows must pass before a handler gets them. */
  <Name extends keyof Tables & string, Column extends keyof RowOf<Tables[Name]> & string = never>(
    pattern: Name,
    handlers: TableHandlers<SelectedRow<RowOf<Tables[Name]>, Column>, KeyOf<Tables[Name]>> & ColumnSelection<Column>,
    checks?: RowChecks<SelectedRow<RowOf<Tables[Name]>, Column>, KeyOf<Tables[Name]>>,
  ): Self;
}

/** `on` for tables of which no map is given. */
export interface OnAnyTable<Self> {
  /**
   * Handles the events of a table. The pattern is its name (`"database.schema.table"`), the end of its name (`"schema.table"` or `"table"`;
   * `"database.table"` if the source has no schemas), or the name of its topic. The `key` of events is not null: its validator among the
   * `checks` has passed it.
   */
  <Row = Columns, Key = Columns, Column extends keyof Row & string = never>(
    pattern: string,
    handlers: KeyedTableHandlers<SelectedRow<Row, Column>, Key> & ColumnSelection<Column>,
    checks: KeyChecks<SelectedRow<Row, Column>, Key>,
  ): Self;
  /**
   * Handles the events of a table. The pattern is its name (`"database.schema.table"`), the end of its name (`"schema.table"` or `"table"`;
   * `"database.table"` if the source has no schemas), or the name of its topic. A pattern that takes no event of what is read, or takes
   * several tables, is a warning and a reason in `health()`. `checks` are validators that rows must pass before a handler gets them.
   */
  <Row = Columns, Key = Columns, Column extends keyof Row & string = never>(
    pattern: string,
    handlers: TableHandlers<SelectedRow<Row, Column>, Key> & ColumnSelection<Column>,
    checks?: RowChecks<SelectedRow<Row, Column>, Key>,
  ): Self;
}

/** `on` of a consumer: with a map of tables, a name that is not in it does not compile. */
export type On<Tables extends object, Self> = OnOther<Self> & ([keyof Tables] extends [never] ? OnAnyTable<Self> : OnTableOf<Tables, Self>);
