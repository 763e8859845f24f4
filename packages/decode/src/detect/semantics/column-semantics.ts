import type { ColumnHints } from "../../encoding/reader.ts";
import type { Type } from "../../encoding/type.ts";
import type { CdcEvent, ChangeEvent, RowEvent, TableName } from "../../event.ts";
import { type LearnedColumns, learnedFromKey, type SchemaChangeLearner } from "../../stream/learned-columns.ts";
import type { SideRoute } from "../route.ts";

/** What meanings are learned from, beside what the user has hinted. */
export interface SemanticsSources {
  readonly keys: boolean;
  readonly schemaChanges: SchemaChangeLearner | null;
  /** Whether they hold for the rows of an event: what Debezium says of a column is wrong of another system's. */
  readonly holdFor: (event: ChangeEvent | RowEvent) => boolean;
}

/** Columns by what their meanings were learned from. */
export interface LearnedNames {
  readonly ofKey: readonly string[];
  readonly ofTable: readonly string[];
}

const nothing: ColumnHints = new Map();
const noNames: LearnedNames = { ofKey: [], ofTable: [] };

const nowhere: SemanticsSources = { keys: false, schemaChanges: null, holdFor: () => false };

/**
 * The semantics that the columns of a topic's values are read with, if their encoding carries none: what the user has hinted, and what
 * was learned of the table that the last record was of. That is a guess: only a record that was read names its table.
 */
export class ColumnSemantics {
  /** What the next value is read with: one object for as long as it stays the same. */
  columns: ColumnHints;
  readonly hinted: ColumnHints;
  readonly #sources: SemanticsSources;
  /** Whether a table's schema changes are learned from. */
  readonly #learnsOfTables: boolean;
  readonly #ofKeys = new WeakMap<Type, LearnedColumns>();
  #lastKey: Type | null = null;
  #ofLastKey: LearnedColumns = nothing;
  /** What was hinted over a key's over a table's. */
  readonly #merged = new WeakMap<LearnedColumns, WeakMap<LearnedColumns, ColumnHints>>();
  readonly #names = new WeakMap<ColumnHints, LearnedNames>();

  constructor(hinted: ColumnHints = nothing, sources: SemanticsSources = nowhere) {
    this.columns = hinted;
    this.hinted = hinted;
    this.#sources = sources;
    this.#learnsOfTables = sources.schemaChanges !== null;
  }

  /** Whether what reads columns with these meanings may read the next value; null reads by its schema alone. */
  are(columns: ColumnHints | null): boolean {
    return columns === null || columns === this.columns;
  }

  /** Whether anything can be learned of a row whose key has this type. */
  learnsBeside(keyType: Type | null): boolean {
    return this.#learnsOfTables || (keyType !== null && this.#sources.keys);
  }

  /**
   * Whether the next record of these routes may want its columns read with other meanings than the last one: its table may have been altered,
   * or the last one was no change and read without what its key teaches.
   */
  mayChange(keyType: Type | null, route: SideRoute): boolean {
    return route.losesSemantics && (this.#learnsOfTables || (!this.areLearned && this.#learnedFrom(keyType).size > 0));
  }

  /** Whether the next value is read with more than the user has hinted. */
  get areLearned(): boolean {
    return this.columns !== this.hinted;
  }

  /** Of what the next value is read with, the columns that were not stated. */
  get learnedNames(): LearnedNames {
    return this.#names.get(this.columns) ?? noNames;
  }

  /** What a record should be read with, now that it was: its events name its table. */
  wantedFor(events: readonly CdcEvent[], keyType: Type | null, route: SideRoute): ColumnHints {
    if (!route.losesSemantics) {
      return this.columns; // nothing was read with them, and the next record may well want them
    }
    const event = events[0];
    if (event === undefined || (event.kind !== "change" && event.kind !== "row") || !this.#sources.holdFor(event)) {
      return this.hinted;
    }
    return this.#merge(this.#learnedFrom(keyType), this.#learnedOf(event.table));
  }

  #learnedFrom(keyType: Type | null): LearnedColumns {
    if (keyType === null || !this.#sources.keys) {
      return nothing;
    }
    if (this.#lastKey !== keyType) {
      this.#ofLastKey = this.#learnedFromKey(keyType);
      this.#lastKey = keyType;
    }
    return this.#ofLastKey;
  }

  #learnedFromKey(keyType: Type): LearnedColumns {
    let learned = this.#ofKeys.get(keyType);
    if (learned === undefined) {
      learned = learnedFromKey(keyType);
      this.#ofKeys.set(keyType, learned);
    }
    return learned;
  }

  #learnedOf(table: TableName | null): LearnedColumns {
    return (table === null ? null : this.#sources.schemaChanges?.columnsOf(table)) ?? nothing;
  }

  #merge(ofKey: LearnedColumns, ofTable: LearnedColumns): ColumnHints {
    if (ofKey.size === 0 && ofTable.size === 0) {
      return this.hinted;
    }
    const merged = this.#merged.get(ofKey) ?? new WeakMap<LearnedColumns, ColumnHints>();
    this.#merged.set(ofKey, merged);
    let columns = merged.get(ofTable);
    if (columns === undefined) {
      columns = new Map([...ofTable, ...ofKey, ...this.hinted]);
      merged.set(ofTable, columns);
      const ofKeyNames = [...ofKey.keys()].filter((name) => !this.hinted.has(name));
      const ofTableNames = [...ofTable.keys()].filter((name) => !this.hinted.has(name) && !ofKey.has(name));
      this.#names.set(columns, { ofKey: ofKeyNames, ofTable: ofTableNames });
    }
    return columns;
  }
}
