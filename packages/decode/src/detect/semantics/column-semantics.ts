import type { ColumnHints } from "../../encoding/reader.ts";
import type { Type } from "../../encoding/type.ts";
import type { CdcEvent, ChangeEvent, RowEvent } from "../../event.ts";
import { type LearnedColumns, learnedFromKey, type SchemaChangeLearner } from "../../stream/learned-columns.ts";
import type { SideRoute } from "../route.ts";

/** What column semantics are learned from, in addition to hints. */
export interface SemanticsSources {
  readonly keys: boolean;
  readonly schemaChanges: SchemaChangeLearner | null;
  /** Whether learned semantics hold for the rows of an event. What Debezium says of a column does not hold for another system's values. */
  readonly holdFor: (event: ChangeEvent | RowEvent) => boolean;
}

/** Column names, grouped by what their semantics were learned from. */
export interface LearnedNames {
  readonly ofKey: readonly string[];
  readonly ofTable: readonly string[];
}

const nothing: ColumnHints = new Map();
const noNames: LearnedNames = { ofKey: [], ofTable: [] };

const nowhere: SemanticsSources = { keys: false, schemaChanges: null, holdFor: () => false };

/**
 * The semantics that the columns of a topic's values are read with if their encoding carries none: hints, and what was learned about the
 * table of the last record. The table is a guess until the record is read, because only a record that was read names its table.
 */
export class ColumnSemantics {
  /** What the next value is read with. The same object for as long as nothing changes: readers are cached by its identity. */
  columns: ColumnHints;
  readonly hinted: ColumnHints;
  readonly #sources: SemanticsSources;
  readonly #learnsOfTables: boolean;
  readonly #ofKeys = new WeakMap<Type, LearnedColumns>();
  #lastKey: Type | null = null;
  #ofLastKey: LearnedColumns = nothing;
  /** Merged columns. Hints override the key's schema, and the key's schema overrides the table's schema changes. */
  readonly #merged = new WeakMap<LearnedColumns, WeakMap<LearnedColumns, ColumnHints>>();
  readonly #names = new WeakMap<ColumnHints, LearnedNames>();

  constructor(hinted: ColumnHints = nothing, sources: SemanticsSources = nowhere) {
    this.columns = hinted;
    this.hinted = hinted;
    this.#sources = sources;
    this.#learnsOfTables = sources.schemaChanges !== null;
  }

  /** Whether a reader that was compiled for these columns may read the next value. Null: the reader uses the schema alone. */
  are(columns: ColumnHints | null): boolean {
    return columns === null || columns === this.columns;
  }

  /** Whether anything can be learned about a row whose key has this type. */
  learnsBeside(keyType: Type | null): boolean {
    return this.#learnsOfTables || (keyType !== null && this.#sources.keys);
  }

  /**
   * Whether the next record with these routes may need other semantics than the last one. Either its table may have been altered, or the
   * last record was not a change and was read without what its key teaches.
   */
  mayChange(keyType: Type | null, route: SideRoute): boolean {
    return route.losesSemantics && (this.#learnsOfTables || (!this.areLearned && this.#learnedFrom(keyType).size > 0));
  }

  /** Whether the next value is read with more than the hints. */
  get areLearned(): boolean {
    return this.columns !== this.hinted;
  }

  /** The columns that the next value is read with and that were not hinted. */
  get learnedNames(): LearnedNames {
    return this.#names.get(this.columns) ?? noNames;
  }

  /** The columns that a record should have been read with. Known only after the record is read, because its events name its table. */
  wantedFor(events: readonly CdcEvent[], keyType: Type | null, route: SideRoute): ColumnHints {
    if (!route.losesSemantics) {
      return this.columns; // no column of this value was read with them, and the next record may need them
    }
    const event = events[0];
    if (event === undefined || (event.kind !== "change" && event.kind !== "row") || !this.#sources.holdFor(event)) {
      return this.hinted;
    }
    return this.#merge(this.#learnedFrom(keyType), this.#learnedOf(event));
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

  #learnedOf(event: ChangeEvent | RowEvent): LearnedColumns {
    const server = event.kind === "change" ? event.source.name : null;
    return (event.table === null ? null : this.#sources.schemaChanges?.columnsOf(event.table, server)) ?? nothing;
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
