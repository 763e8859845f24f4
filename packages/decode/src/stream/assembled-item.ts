import type { CdcEvent, ChangeEvent, MessageEvent, TruncateEvent } from "../event.ts";

/** An event that can belong to a transaction. */
export type TransactionalEvent = ChangeEvent | TruncateEvent | MessageEvent;

/** What comes out of a `TransactionAssembler`. Each event that went in comes out once, in one of these. */
export type AssembledItem =
  /** All of a transaction's events, in the order in which the source made them. */
  | { readonly kind: "transaction"; readonly transaction: AssembledTransaction }
  /** What came of a transaction that was given up, and what did not. */
  | {
      readonly kind: "incomplete";
      readonly transaction: AssembledTransaction;
      readonly reason: "timeout" | "drained";
      readonly missing: MissingEvents;
    }
  /**
   * An event that is not part of what is assembled: it names no transaction, it is a redelivery of one that came before, or its
   * transaction was given up already.
   */
  | { readonly kind: "single"; readonly event: CdcEvent; readonly reason: "no-transaction" | "duplicate" | "late" };

export interface AssembledTransaction {
  readonly id: string;
  /** By `transaction.totalOrder`. Detached: they keep no fetched batch. */
  readonly events: readonly TransactionalEvent[];
  /** When the connector saw the beginning and the end, where their records came. */
  readonly beginTsMs: number | null;
  readonly endTsMs: number | null;
}

export interface MissingEvents {
  /** Whether the END record, which has the counts, did not come. */
  readonly end: boolean;
  /** How many events were expected in all, and how many came; expected is null where no END said so. */
  readonly expected: number | null;
  readonly seen: number;
  /** The data collections that lack events, in Debezium's words; null where no END said so. */
  readonly collections: readonly { readonly dataCollection: string; readonly expected: number; readonly seen: number }[] | null;
}
