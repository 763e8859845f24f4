import type { ColumnSelector, RowSlot } from "../column-selector.ts";
import type { RowSelection } from "../encoding/row-selection.ts";
import { EnvelopedChange } from "../envelope/change-event.ts";
import { PlainRow } from "../envelope/control-events.ts";
import { isDecodeError } from "../errors.ts";
import type { CdcEvent, TableName } from "../event.ts";
import type { RecordCursor } from "../record.ts";
import { wrongAnswer } from "../user-answer.ts";
import { ByTable } from "./by-table.ts";
import { isPending, type Outcome } from "./pending.ts";
import { UnwantedShare } from "./unwanted-share.ts";

type Columns = ReadonlySet<string>;

/** The columns that are wanted of one table's rows. */
interface WantedOfTable {
  readonly bySlot: Readonly<Record<RowSlot, Columns | null>>;
  /** The guess that has all of them. Undefined if none has yet. */
  coveredBy?: Columns | null;
}

/** An event with rows. The two classes are all that have some. */
type RowsEvent = EnvelopedChange | PlainRow;

const noColumns: Columns = new Set();
const slots: readonly RowSlot[] = ["create", "update", "delete", "read", "row"];
const maxTables = 256;

/**
 * Reads the records of one topic with the columns that are wanted of their rows. Only a record that was read names its table, so each is
 * read with all columns that were wanted of the tables before it. That is a guess, and the result never depends on it:
 * 1. A record of a new table, of which more is wanted: it is read again with the columns of that table.
 * 2. A record that does not decode, or that contradicts what was learned of its columns: that may be in a column that was wanted of another
 * table alone. It is read without columns, so that it names its table, and then with the columns of that table.
 * 3. More was read than is wanted, because of other tables or because the encoding or the envelope reads whole rows: the rest is dropped.
 *
 * If nobody takes most records (of other operations, or of other tables), each is read without columns at first, and those that somebody
 * takes are read again.
 */
export class RowSelector implements RowSelection {
  columns: Columns | null = noColumns;
  isApplied = false;
  /** Whether the record is read for the first time, with the columns of the tables before it. */
  isGuess = false;
  readonly #select: ColumnSelector;
  readonly #tables: ByTable<WantedOfTable> = new ByTable(maxTables);
  /** What records are read with at first. */
  #guess: Columns | null = noColumns;
  #needsWholeRows = false;
  readonly #unwanted = new UnwantedShare();
  #lastTable: TableName | null | undefined = undefined;
  #lastWanted: WantedOfTable | null = null;

  constructor(select: ColumnSelector) {
    this.#select = select;
  }

  /** Called by an envelope whose events are made of whole rows, for a value that was read with a selection. */
  readonly needWholeRows = (): void => {
    this.#needsWholeRows = true;
  };

  /** The events of a record, with the columns that are wanted. `attempt` reads the record with the current columns. */
  read(cursor: RecordCursor, attempt: (cursor: RecordCursor) => Outcome): Outcome {
    let outcome: Outcome;
    this.isGuess = true;
    try {
      outcome = this.#readWith(this.#unwanted.isLarge ? noColumns : this.#guess, cursor, attempt);
    } catch (error) {
      if (!isDecodeError(error) || error.retriable) {
        throw error;
      }
      this.isGuess = false;
      outcome = this.#readWith(noColumns, cursor, attempt);
      return isPending(outcome) ? outcome : this.#readAsWanted(outcome, cursor, attempt);
    }
    this.isGuess = false;
    if (isPending(outcome)) {
      return outcome;
    }
    const [event] = outcome;
    const isSelected = (this.isApplied || this.columns === null) && !this.#needsWholeRows;
    if (outcome.length === 1 && isSelected && (event instanceof EnvelopedChange || event instanceof PlainRow)) {
      const wanted = this.#wantedOf(event);
      this.#unwanted.count(wanted === noColumns);
      if (wanted === this.columns) {
        return outcome;
      }
    }
    return this.#settle(outcome, cursor, attempt);
  }

  #readWith(columns: Columns | null, cursor: RecordCursor, attempt: (cursor: RecordCursor) => Outcome): Outcome {
    this.columns = columns;
    this.isApplied = false;
    this.#needsWholeRows = false;
    return attempt(cursor);
  }

  #settle(events: readonly CdcEvent[], cursor: RecordCursor, attempt: (cursor: RecordCursor) => Outcome): Outcome {
    for (const event of events) {
      if (hasRows(event)) {
        this.#cover(this.#tableOf(event));
      }
    }
    if (this.#needsWholeRows) {
      this.#guess = null;
    }
    return this.#guess === this.columns ? this.#withWanted(events) : this.#readAsWanted(events, cursor, attempt);
  }

  /** Reads a record again, whose tables are known from its events: with the columns that are wanted of them, and no others. */
  #readAsWanted(events: readonly CdcEvent[], cursor: RecordCursor, attempt: (cursor: RecordCursor) => Outcome): Outcome {
    if (!this.isApplied) {
      return this.#withWanted(events);
    }
    const wanted = this.#needsWholeRows ? null : unionOf(events.filter(hasRows).map((event) => this.#wantedOf(event)));
    const outcome = this.#readWith(wanted, cursor, attempt);
    return isPending(outcome) ? outcome : this.#withWanted(outcome);
  }

  #withWanted(events: readonly CdcEvent[]): readonly CdcEvent[] {
    for (const event of events) {
      const wanted = hasRows(event) ? this.#wantedOf(event) : null;
      if (wanted !== null && !(this.isApplied && wanted === this.columns)) {
        (event as RowsEvent).keepColumns(wanted); // only events with rows have wanted columns
      }
    }
    return events;
  }

  #wantedOf(event: RowsEvent): Columns | null {
    return this.#tableOf(event).bySlot[event.kind === "row" ? "row" : event.op];
  }

  #tableOf({ table }: RowsEvent): WantedOfTable {
    if (this.#lastTable === table && this.#lastWanted !== null) {
      return this.#lastWanted;
    }
    let wanted = this.#tables.get(table);
    if (wanted === undefined) {
      const select = (of: TableName | null, slot: RowSlot): Columns | null => {
        const columns = this.#select(of, slot) ?? null;
        if (columns !== null && typeof (columns as Partial<ReadonlySet<string>>).has !== "function") {
          throw wrongAnswer("the function of selectColumns", "return a Set of column names, or null", columns);
        }
        return columns?.size === 0 ? noColumns : columns;
      };
      const [create, update, deleted, read, row] = slots.map((slot) => select(table, slot)) as [
        Columns,
        Columns,
        Columns,
        Columns,
        Columns,
      ];
      wanted = { bySlot: { create, update, delete: deleted, read, row } };
      this.#tables.set(table, wanted);
    }
    this.#lastTable = table;
    this.#lastWanted = wanted;
    return wanted;
  }

  /** Reads later records with the columns of this table, too. */
  #cover(table: WantedOfTable): void {
    if (table.coveredBy !== this.#guess) {
      this.#guess = unionOf([this.#guess, ...slots.map((slot) => table.bySlot[slot])]);
      table.coveredBy = this.#guess;
    }
  }
}

function hasRows(event: CdcEvent): event is RowsEvent {
  return event instanceof EnvelopedChange || event instanceof PlainRow;
}

/** All columns of these selections. One of them if it has all columns of the others, so that its readers are used. */
function unionOf(selections: readonly (Columns | null)[]): Columns | null {
  let union: Columns = noColumns;
  for (const columns of selections) {
    if (columns === null) {
      return null;
    }
    union = isWithin(columns, union) ? union : isWithin(union, columns) ? columns : new Set([...union, ...columns]);
  }
  return union;
}

function isWithin(columns: Columns, others: Columns): boolean {
  return columns.size <= others.size && [...columns].every((name) => others.has(name));
}
