import { type Type, withoutNull } from "../encoding/type.ts";
import type { SchemaChangeEvent, TableName } from "../event.ts";
import type { Semantic } from "../values/conversion.ts";
import { type ConnectorModes, defaultModes, type NativeColumn } from "../values/native-column.ts";
import { nativeSemantic } from "../values/native-semantic.ts";
import { resolveBounds } from "./bounds.ts";
import { RecentMap } from "../recent-map.ts";
import { bindMethods } from "../bind-methods.ts";

/** The meanings of columns by their names, for values whose encoding has no types. */
export type LearnedColumns = ReadonlyMap<string, Semantic>;

/**
 * The meanings of columns in a key's schema, for the columns of the same names in the value: a topic may have typed keys and untyped
 * values. Columns without a meaning beyond their type teach nothing, and neither does a key that is not a record.
 */
export function learnedFromKey(type: Type): LearnedColumns {
  const record = withoutNull(type);
  const learned = new Map<string, Semantic>();
  for (const { name, type: column } of record.kind === "record" ? record.fields : []) {
    const { semantic } = withoutNull(column);
    if (semantic !== undefined) {
      learned.set(name, semantic);
    }
  }
  return learned;
}

/**
 * The meanings of a row's columns, from the database types in its schema. It covers columns for which the schema states no meaning, and
 * only meanings that are the same in every mode of the connector.
 */
export function learnedFromSource(row: Type, connector: string): LearnedColumns {
  const record = withoutNull(row);
  const learned = new Map<string, Semantic>();
  for (const { name, type, source } of record.kind === "record" ? record.fields : []) {
    const semantic = source === undefined || withoutNull(type).semantic !== undefined ? null : nativeSemantic(connector, source);
    if (semantic !== null) {
      learned.set(name, semantic);
    }
  }
  return learned;
}

/** The modes and the limits of a {@link SchemaChangeLearner}. */
export interface SchemaChangeLearnerOptions {
  /**
   * The connector's modes, or `"default"` if its configuration does not set them. A schema-change record does not state the modes. Meanings
   * that depend on a mode that is absent here are not learned.
   * @default none
   */
  readonly modes?: ConnectorModes | "default";
  /**
   * The most tables that are remembered.
   * @default 10_000
   */
  readonly maxTables?: number;
  /**
   * The most columns of a table. A table with more columns is not learned.
   * @default 5_000
   */
  readonly maxColumns?: number;
}

/**
 * Learns the meanings of tables' columns from a connector's schema-change topic. A decoder that has this learner also keeps the schema
 * messages of TiCDC's simple protocol for it, for later rows of those versions on that topic: up to 4,096 columns per table and 65,536 in
 * all.
 */
export class SchemaChangeLearner {
  readonly #modes: ConnectorModes | "default";
  readonly #maxColumns: number;
  /** What was learned by what a topic's name states: a table's schema or database, and its name. Several tables may have both in common. */
  readonly #tables: RecentMap<string, RecentMap<string, LearnedTable>>;

  constructor({ modes = {}, ...bounds }: SchemaChangeLearnerOptions = {}) {
    const { maxTables, maxColumns } = resolveBounds({ maxTables: 10_000, maxColumns: 5_000, ...bounds }, "SchemaChangeLearner");
    this.#modes = modes;
    this.#maxColumns = maxColumns;
    this.#tables = new RecentMap(maxTables);
    bindMethods(this);
  }

  /** Learns the tables of an event. Created and altered tables replace what was learned before, and dropped tables are forgotten. */
  learn(event: SchemaChangeEvent): void {
    const connector = event.source.connector ?? "";
    const modes = this.#modes === "default" ? defaultModes(connector) : this.#modes;
    for (const change of event.tables) {
      const table = tableOf(change["id"], connector, event);
      const columns = columnsOf(change["table"]);
      if (table === null) {
        continue;
      }
      const server = event.source.name;
      const key = keyOf(table, server);
      if (columns === null || columns.length > this.#maxColumns) {
        this.#tables.get(placeOf(table))?.delete(key);
      } else {
        this.#namesakesOf(table).set(key, { server, name: keyOf(table, null), columns: meaningsOf(columns, connector, modes) });
      }
    }
  }

  /**
   * The learned meanings of the table's columns; null if no event described the table. A table may be named without its database, as a
   * topic names it (`server.public.orders`, `server.inventory.orders`). In that case the result is that of the only table with this name in
   * that schema or database. `server` is the connector's logical name (`source.name`). If it is null, because the row does not state it, the
   * table must be known from one server alone.
   */
  columnsOf(table: TableName, server: string | null = null): LearnedColumns | null {
    const namesakes = this.#tables.get(placeOf(table));
    if (namesakes === undefined) {
      return null;
    }
    const known = server === null ? undefined : namesakes.get(keyOf(table, server));
    if (known !== undefined) {
      return known.columns;
    }
    const isOfServer = (learned: LearnedTable): boolean => server === null || learned.server === null || learned.server === server;
    const ofServer = [...namesakes.values()].filter(isOfServer);
    const name = keyOf(table, null);
    const exact = ofServer.filter((learned) => learned.name === name);
    const isShort = table.database === undefined || table.schema === undefined;
    const [only, ...others] = exact.length > 0 || !isShort ? exact : ofServer;
    return only === undefined || others.length > 0 ? null : only.columns;
  }

  #namesakesOf(table: TableName): RecentMap<string, LearnedTable> {
    const place = placeOf(table);
    const namesakes = this.#tables.get(place) ?? new RecentMap<string, LearnedTable>(maxNamesakes);
    this.#tables.set(place, namesakes);
    return namesakes;
  }
}

/** What was learned of a table of one server. */
interface LearnedTable {
  /** The connector's logical name, or null if the schema change does not state it. */
  readonly server: string | null;
  /** The table's full name, with its database and schema. */
  readonly name: string;
  readonly columns: LearnedColumns;
}

/** The most tables of the same name in schemas of the same name, each in another database or of another server. */
const maxNamesakes = 256;

/** The part of a table's name that a topic's name states. */
function placeOf({ database, schema, name }: TableName): string {
  return JSON.stringify([schema ?? database ?? null, name]);
}

function meaningsOf(columns: readonly Block[], connector: string, modes: ConnectorModes): LearnedColumns {
  const learned = new Map<string, Semantic>();
  for (const column of columns) {
    const { name } = column;
    const native = nativeOf(column);
    const semantic = native === null ? null : nativeSemantic(connector, native, modes);
    if (typeof name === "string" && semantic !== null) {
      learned.set(name, semantic);
    }
  }
  return learned;
}

type Block = Readonly<Record<string, unknown>>;

function isBlock(value: unknown): value is Block {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The columns of a table; null if the table was dropped. */
function columnsOf(table: unknown): readonly Block[] | null {
  const columns = isBlock(table) ? table["columns"] : null;
  return Array.isArray(columns) ? columns.filter(isBlock) : null;
}

/** The declared column. If a type declares no length, Debezium leaves it out or writes -1. */
function nativeOf({ typeName, length, scale }: Block): NativeColumn | null {
  const declared = integerOrNull(length) ?? -1;
  return typeof typeName === "string" ? { typeName, length: declared < 0 ? null : declared, scale: integerOrNull(scale) } : null;
}

function integerOrNull(value: unknown): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) ? value : null;
}

/**
 * The table in `"public"."orders"`, `"db"."dbo"."orders"`, or the same without quotes. If there are two parts, the first is the schema or
 * the database, depending on the connector.
 */
function tableOf(id: unknown, connector: string, { database, schema }: SchemaChangeEvent): TableName | null {
  const parts = typeof id === "string" ? partsOf(id) : [];
  const name = parts.at(-1);
  if (name === undefined) {
    return null;
  }
  const isInDatabase = connector === "mysql" || connector === "mariadb";
  const inner = parts.at(-2) ?? (isInDatabase ? database : schema) ?? undefined;
  const outer = parts.at(-3) ?? (isInDatabase ? undefined : (database ?? undefined));
  return isInDatabase ? named(inner, undefined, name) : named(outer, inner, name);
}

function named(database: string | undefined, schema: string | undefined, name: string): TableName {
  return { ...(database === undefined ? {} : { database }), ...(schema === undefined ? {} : { schema }), name };
}

function partsOf(id: string): string[] {
  return Array.from(id.matchAll(/"((?:[^"]|"")*)"|[^."]+/g), ([part, quoted]) =>
    quoted === undefined ? part : quoted.replaceAll('""', '"'),
  );
}

function keyOf({ database, schema, name }: TableName, server: string | null): string {
  return JSON.stringify([server, database ?? null, schema ?? null, name]);
}
