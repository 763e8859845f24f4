import { BoundedMap } from "../bounded-map.ts";
import type { PayloadReader, ReadPlan } from "./reader.ts";
import { type Type, withoutNull } from "./type.ts";

/** The columns that the rows of the next value are read with. They may change with every value. */
export interface RowSelection {
  /** Null: all columns. The same columns are the same object, because readers are kept by it. */
  readonly columns: ReadonlySet<string> | null;
  /**
   * Set by every reader that is tried: to true if it leaves out all other columns. The last one that is tried has read the value, so that what
   * it has set holds.
   */
  isApplied: boolean;
}

/** How the rows of one outline are selected. */
export interface SelectableRows {
  readonly selection: RowSelection;
  /** The plan that reads these columns, and those that belong to the envelope. */
  planFor(columns: ReadonlySet<string>): ReadPlan;
}

/** Whether every row of a type is a record, so that its columns can be skipped one by one. A row may also be a document in a text. */
function hasSelectableRows(type: Type, { isSelectable, rows }: ReadPlan): boolean {
  const record = withoutNull(type);
  if (isSelectable !== true || record.kind !== "record") {
    return false;
  }
  return rows === "self" || record.fields.every((field) => !rows.includes(field.name) || withoutNull(field.type).kind === "record");
}

/** A topic has few selections: one for each table, and one for several tables together. */
const maxSelections = 16;

/** The readers of one type, one for each selection that has come. Rows whose columns cannot be skipped have one that reads them whole. */
export class ReadersBySelection<Reader> {
  readonly #rows: SelectableRows;
  readonly #isSelectable: boolean;
  readonly #plan: ReadPlan;
  readonly #compile: (plan: ReadPlan) => Reader;
  readonly #known: BoundedMap<ReadonlySet<string> | null, Reader> = new BoundedMap(maxSelections);
  #columns: ReadonlySet<string> | null;
  #reader: Reader;

  /** `plan` reads all columns. */
  constructor(rows: SelectableRows, type: Type, plan: ReadPlan, compile: (plan: ReadPlan) => Reader) {
    this.#rows = rows;
    this.#isSelectable = hasSelectableRows(type, plan);
    this.#plan = plan;
    this.#compile = compile;
    this.#columns = this.#wanted();
    this.#reader = this.#readerFor(this.#columns);
  }

  /** The reader for the next value. */
  next(): Reader {
    const columns = this.#wanted();
    if (columns !== this.#columns) {
      this.#reader = this.#readerFor(columns);
      this.#columns = columns;
    }
    this.#rows.selection.isApplied = columns !== null;
    return this.#reader;
  }

  #wanted(): ReadonlySet<string> | null {
    return this.#isSelectable ? this.#rows.selection.columns : null;
  }

  #readerFor(columns: ReadonlySet<string> | null): Reader {
    let reader = this.#known.get(columns);
    if (reader === undefined) {
      reader = this.#compile(columns === null ? this.#plan : this.#rows.planFor(columns));
      this.#known.set(columns, reader);
    }
    return reader;
  }
}

/** A reader that reads the columns which are selected when it is called. */
export function selectingReader(readers: ReadersBySelection<PayloadReader>): PayloadReader {
  const { encoding, type, readSequence } = readers.next();
  return {
    encoding,
    type,
    read: (bytes, start, end) => readers.next().read(bytes, start, end),
    ...(readSequence === undefined
      ? {}
      : { readSequence: (bytes, start, end, count) => (readers.next().readSequence as typeof readSequence)(bytes, start, end, count) }),
  };
}
