import { type Type, withoutNull } from "../encoding/type.ts";
import type { SchemaChangeEvent, TableName } from "../event.ts";
import type { Semantic } from "../values/conversion.ts";
import { type ConnectorModes, defaultModes, type NativeColumn } from "../values/native-column.ts";
import { nativeSemantic } from "../values/native-semantic.ts";
import { resolveBounds } from "./bounds.ts";
import { RecentMap } from "./recent-map.ts";
import { bindMethods } from "../bind-methods.ts";

/** The meanings of columns by their names, for values whose encoding carries no types. */
export type LearnedColumns = ReadonlyMap<string, Semantic>;

/**
 * What a key's schema says of columns that the value has under the same names: a topic may have typed keys beside untyped values. Columns
 * that mean nothing beyond their type, and a key that is no record, teach nothing.
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
 * What the columns of a row mean by the types that its schema says they have in the database, for those that it states no meaning of: what is
 * the same in every mode of the connector.
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

/** What {@link SchemaChangeLearner} relies on, and may remember. */
export interface SchemaChangeLearnerOptions {
  /**
   * The connector's modes, or `"default"` where its configuration says nothing of them. A schema-change record does not state them: what
   * depends on one that is absent here is not learned.
   * @default none
   */
  readonly modes?: ConnectorModes | "default";
  /**
   * Tables that are remembered.
   * @default 10_000
   */
  readonly maxTables?: number;
  /**
   * Columns of a table that are learned: those of wider ones are not.
   * @default 5_000
   */
  readonly maxColumns?: number;
}

/**
 * Learns what the columns of tables mean from a connector's schema-change topic. A decoder that has it also keeps for it what the schema
 * messages of TiCDC's simple protocol say, for later rows of those versions on that topic: up to 4,096 columns a table and 65,536 in all.
 */
export class SchemaChangeLearner {
  readonly #modes: ConnectorModes | "default";
  readonly #maxColumns: number;
  /** By what a table is in and its name, then by its full name: a topic's name says no more than the former. */
  readonly #tables: RecentMap<string, RecentMap<string, LearnedColumns>>;

  constructor({ modes = {}, ...bounds }: SchemaChangeLearnerOptions = {}) {
    const { maxTables, maxColumns } = resolveBounds({ maxTables: 10_000, maxColumns: 5_000, ...bounds }, "SchemaChangeLearner");
    this.#modes = modes;
    this.#maxColumns = maxColumns;
    this.#tables = new RecentMap(maxTables);
    bindMethods(this);
  }

  /** Takes what the event says of its tables: created and altered ones are learned anew, dropped ones forgotten. */
  learn(event: SchemaChangeEvent): void {
    const connector = event.source.connector ?? "";
    const modes = this.#modes === "default" ? defaultModes(connector) : this.#modes;
    for (const change of event.tables) {
      const table = tableOf(change["id"], connector, event);
      const columns = columnsOf(change["table"]);
      if (table === null) {
        continue;
      }
      if (columns === null || columns.length > this.#maxColumns) {
        this.#tables.get(placeOf(table))?.delete(keyOf(table));
      } else {
        this.#namesakesOf(table).set(keyOf(table), meaningsOf(columns, connector, modes));
      }
    }
  }

  /**
   * What the table's columns mean, as far as that was learned; null of a table that no event spoke of. Of a table without its database, as
   * a topic names it (`server.public.orders`, `server.inventory.orders`), the only one of that schema or database is meant.
   */
  columnsOf(table: TableName): LearnedColumns | null {
    const namesakes = this.#tables.get(placeOf(table));
    if (namesakes === undefined) {
      return null;
    }
    const isShort = table.database === undefined || table.schema === undefined;
    const only = isShort && namesakes.size === 1 ? (namesakes.entries().next().value?.[1] ?? null) : null;
    return namesakes.get(keyOf(table)) ?? only;
  }

  #namesakesOf(table: TableName): RecentMap<string, LearnedColumns> {
    const place = placeOf(table);
    const namesakes = this.#tables.get(place) ?? new RecentMap<string, LearnedColumns>(maxNamesakes);
    this.#tables.set(place, namesakes);
    return namesakes;
  }
}

/** Tables of one name in schemas of one name, in as many databases. */
const maxNamesakes = 16;

/** What a topic's name says of a table. */
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

/** Null where the table was dropped. */
function columnsOf(table: unknown): readonly Block[] | null {
  const columns = isBlock(table) ? table["columns"] : null;
  return Array.isArray(columns) ? columns.filter(isBlock) : null;
}

/** Debezium writes a length of -1 for one that a type does not declare, where it does not leave it out. */
function nativeOf({ typeName, length, scale }: Block): NativeColumn | null {
  const declared = integerOrNull(length) ?? -1;
  return typeof typeName === "string" ? { typeName, length: declared < 0 ? null : declared, scale: integerOrNull(scale) } : null;
}

function integerOrNull(value: unknown): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) ? value : null;
}

/** `"public"."orders"`, `"db"."dbo"."orders"`, or the same without quotes; of two parts, the first is what the connector's tables are in. */
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

function keyOf({ database, schema, name }: TableName): string {
  return JSON.stringify([database ?? null, schema ?? null, name]);
}
