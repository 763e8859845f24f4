import type { CdcEvent, ChangeEvent, MessageEvent, TruncateEvent } from "../event.ts";

/** An event that can belong to a transaction. */
export type TransactionalEvent = ChangeEvent | TruncateEvent | MessageEvent;

/** The output of a `TransactionAssembler`. Each event that was added comes out once, in one of these items. */
export type AssembledItem =
  /** All of a transaction's events, in the order in which the source made them. */
  | { readonly kind: "transaction"; readonly transaction: AssembledTransaction }
  /** The events of a transaction that was given up, and what is missing. */
  | {
      readonly kind: "incomplete";
      /** The transaction, with the events that have arrived. */
      readonly transaction: AssembledTransaction;
      /** Why it was given up: it took too long, or the assembler was drained. */
      readonly reason: "timeout" | "drained";
      /** What has not arrived. */
      readonly missing: MissingEvents;
    }
  /**
   * An event that is not assembled: it names no transaction, or not its place in it (`totalOrder` is 0), it was delivered before, or its
   * transaction was already given up.
   */
  | { readonly kind: "single"; readonly event: CdcEvent; readonly reason: "no-transaction" | "duplicate" | "late" };

/** All events of one transaction of the source. */
export interface AssembledTransaction {
  /**
   * The transaction, as `transaction.id` of its events names it. Of PostgreSQL's `<transaction>:<LSN>`, whose LSN is another in each event, it is
   * the first part.
   */
  readonly id: string;
  /** The events in the order of `transaction.totalOrder`. They are detached, so they keep no fetched batch in memory. */
  readonly events: readonly TransactionalEvent[];
  /**
   * The times at which the connector saw the beginning and the end, in milliseconds since the epoch. Null if their records did not arrive.
   */
  readonly beginTsMs: number | null;
  /** The time of the end; see `beginTsMs`. */
  readonly endTsMs: number | null;
}

/** What of a transaction has not arrived. */
export interface MissingEvents {
  /** Whether the END record is missing. It has the counts. */
  readonly end: boolean;
  /** The expected number of events, and the number that arrived. `expected` is null if no END record stated it. */
  readonly expected: number | null;
  /** The number of events that arrived. */
  readonly seen: number;
  /** The data collections that lack events, by Debezium's names; null if no END record stated them. */
  readonly collections: readonly { readonly dataCollection: string; readonly expected: number; readonly seen: number }[] | null;
}
