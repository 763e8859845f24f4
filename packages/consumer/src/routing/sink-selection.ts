import type { CdcEvent, ChangeEvent, RowEvent, TombstoneEvent } from "@cdckit/decode";
import { ConsumerError } from "../errors.ts";

export interface SinkSelectionParts {
  /** Whether the sink's patterns match the event's own table. */
  readonly matches: (event: CdcEvent) => boolean;
  /** The sink is given what says whose row a tombstone is, and decides by itself. */
  readonly readsLeftOut: boolean;
  /** The sink has taken a tombstone whose own table the patterns leave out. Called once for each topic. */
  readonly takenByTopic: (event: TombstoneEvent) => void;
  /** So many tombstones of the topic were left out before the first row of it that the sink takes. */
  readonly leftOutBefore: (topic: string, tombstones: number) => void;
}

/** What was read of a topic's rows. */
interface SeenRows {
  /** The sink takes rows without an envelope, or flattened ones: a tombstone may be all that comes of their delete. */
  isBareTaken: boolean;
  /** It leaves such rows out. */
  isBareLeftOut: boolean;
  /** It leaves changes in an envelope out, of which a tombstone comes after their delete, and is none; or messages of an outbox, which no tombstone deletes. */
  isChangeLeftOut: boolean;
  /** Deletes of such rows are rows themselves: a tombstone comes after one, and is none. */
  hasBareDeletes: boolean;
}

/**
 * Decides which events a sink of some tables takes. A tombstone holds nothing but a key. If no header and no hint says its table, its table is
 * the end of its topic's name, which need not be the name of the table. So what was read of the topic decides.
 */
export class SinkSelection {
  readonly #parts: SinkSelectionParts;
  readonly #topics = new Map<string, SeenRows>();
  /** By topic: the tombstones that were left out before any row was read. */
  readonly #early = new Map<string, number>();
  readonly #reported = new Set<string>();
  /** What was noted last: most events tell nothing new. */
  #last: { readonly topic: string; readonly form: string } | null = null;

  constructor(parts: SinkSelectionParts) {
    this.#parts = parts;
  }

  /** Throws for a tombstone of which nothing says whose delete it is. */
  takes(event: CdcEvent): boolean {
    const isMatch = this.#parts.matches(event);
    if (event.kind === "tombstone") {
      return isNamedByTopic(event) ? this.#takesTombstone(event, isMatch) : isMatch;
    }
    if (event.kind === "row" || event.kind === "change") {
      this.#note(event, isMatch);
    }
    return isMatch;
  }

  #takesTombstone(event: TombstoneEvent, isMatch: boolean): boolean {
    const { topic } = event.record;
    const { readsLeftOut } = this.#parts;
    const seen = this.#topics.get(topic);
    if (seen === undefined) {
      return isMatch || readsLeftOut || this.#leaveOutEarly(topic);
    }
    if (!readsLeftOut && (isMatch || seen.isBareTaken) && (seen.isBareLeftOut || seen.isChangeLeftOut)) {
      // Such a sink deletes the row that the tombstone's table and key name. If the topic is only called like the table, that is a row of it that
      // is still there: of the table "orders", whose topic has rows of "invoices", too, the order with the number of an invoice.
      if (seen.isBareLeftOut && !seen.hasBareDeletes) {
        throw tableUnknown(event);
      }
      return seen.isBareTaken && !seen.hasBareDeletes;
    }
    if (!isMatch && seen.isBareTaken && !this.#reported.has(topic)) {
      this.#reported.add(topic);
      this.#parts.takenByTopic(event);
    }
    return isMatch || seen.isBareTaken;
  }

  #leaveOutEarly(topic: string): false {
    this.#early.set(topic, (this.#early.get(topic) ?? 0) + 1);
    return false;
  }

  #note(event: ChangeEvent | RowEvent, isTaken: boolean): void {
    const { topic } = event.record;
    const isBare = isBareRow(event);
    const isDelete = event.kind === "change" && event.op === "delete";
    const form = `${isTaken} ${isBare} ${isDelete}`;
    if (this.#last?.topic === topic && this.#last.form === form) {
      return;
    }
    this.#last = { topic, form };
    const seen = this.#topics.get(topic) ?? { isBareTaken: false, isBareLeftOut: false, isChangeLeftOut: false, hasBareDeletes: false };
    this.#topics.set(topic, seen);
    seen.isBareTaken ||= isBare && isTaken;
    seen.isBareLeftOut ||= isBare && !isTaken;
    seen.isChangeLeftOut ||= !isBare && !isTaken;
    seen.hasBareDeletes ||= isBare && isDelete;
    const early = this.#early.get(topic);
    if (seen.isBareTaken && early !== undefined) {
      this.#early.delete(topic);
      this.#parts.leftOutBefore(topic, early);
    }
  }
}

/**
 * Chooses, of the events of one partition that a sink leaves out, those that it is given nonetheless because they say whose row a tombstone is:
 * the first row of each form, every delete that is a row, and tombstones that only their topic names.
 */
export class LeftOutChoice {
  readonly #forms = new Set<boolean>();

  /** To be asked once for each event, in order. */
  includes(event: CdcEvent): boolean {
    if (event.kind === "tombstone") {
      return isNamedByTopic(event);
    }
    if ((event.kind !== "row" && event.kind !== "change") || event.table === null) {
      return false;
    }
    const isBare = isBareRow(event);
    const isFirst = !this.#forms.has(isBare);
    this.#forms.add(isBare);
    return isFirst || (isBare && event.kind === "change" && event.op === "delete");
  }
}

/** Of which a tombstone may be the only delete. A row without a table, such as a message of an outbox, is no row of one. */
function isBareRow(event: ChangeEvent | RowEvent): boolean {
  return event.kind === "row" ? event.table !== null : event.envelope === "flattened";
}

/** Neither a header nor a hint says its table. */
function isNamedByTopic({ table, record: { topic } }: TombstoneEvent): boolean {
  return table === null || table.name === topic.slice(topic.lastIndexOf(".") + 1);
}

function tableUnknown({ record: { topic, partition, offset } }: TombstoneEvent): ConsumerError {
  return new ConsumerError(
    "table-unknown",
    `the tombstone at ${topic}[${partition}] offset ${offset} may be a delete, and nothing says of which table: rows of the topic are of tables that the sink ` +
      "leaves out, and others of it, or the topic's own name, are of a table that it takes. Give each table a topic of its own, or let the connector write deletes as rows (delete.tombstone.handling.mode=rewrite)",
    { at: { topic, partition, offset } },
  );
}
