import { DecodeError } from "../errors.ts";
import type { CdcEvent, TransactionEvent, TransactionPosition } from "../event.ts";
import type { AssembledItem, AssembledTransaction, TransactionalEvent } from "./assembled-item.ts";
import { resolveBounds } from "./bounds.ts";
import { OpenTransaction } from "./open-transaction.ts";
import { RecentMap } from "../recent-map.ts";
import { bindMethods } from "../bind-methods.ts";

/** The limits of a {@link TransactionAssembler}. */
export interface TransactionAssemblerOptions {
  /**
   * The most transactions that are open at once.
   * @default 1_000
   */
  readonly maxOpenTransactions?: number;
  /**
   * The most events of all open transactions together.
   * @default 100_000
   */
  readonly maxBufferedEvents?: number;
  /**
   * The most bytes of the keys and values of those events.
   * @default 67_108_864
   */
  readonly maxBufferedBytes?: number;
  /**
   * The time without a record of an open transaction after which `expire` gives it up, in milliseconds.
   * @default 60_000
   */
  readonly timeoutMs?: number;
  /**
   * The most transactions that are remembered after they came out, so that redelivered events are recognised.
   * @default 10_000
   */
  readonly maxRemembered?: number;
  /**
   * Whether this stream has the events of a data collection, by its name in the END record (`public.orders`). If a consumer reads only some
   * of a connector's tables, the assembler must not wait for the others.
   * @default every collection
   */
  readonly includes?: (dataCollection: string) => boolean;
}

type Settled = "complete" | "given-up";

/**
 * Assembles the transactions of one Debezium connector from change events, which name their transaction, and from the connector's
 * transaction topic (`provide.transaction.metadata`). The two topics, and the partitions of the first, may arrive in any order. A
 * transaction comes out when its END record and as many events as the END record counts have arrived.
 *
 * It starts no timer. The caller passes the time (`nowMs`, from any clock that does not go back) and calls `expire` regularly. If a limit
 * is reached, `add` throws a `DecodeError` of code `limit-exceeded` and does not take the event: call `expire` or `drain`, and add the
 * event again. Use one assembler per connector, because transaction ids of different connectors are unrelated.
 */
export class TransactionAssembler {
  readonly #bounds: Required<Omit<TransactionAssemblerOptions, "includes">>;
  readonly #includes: (dataCollection: string) => boolean;
  readonly #open = new Map<string, OpenTransaction>();
  readonly #settled: RecentMap<string, Settled>;
  #bufferedEvents = 0;
  #bufferedBytes = 0;

  constructor({ includes, ...bounds }: TransactionAssemblerOptions = {}) {
    this.#bounds = resolveBounds({ ...defaults, ...bounds }, "TransactionAssembler");
    this.#includes = includes ?? ((): boolean => true);
    this.#settled = new RecentMap(this.#bounds.maxRemembered);
    bindMethods(this);
  }

  /** How many transactions have begun and not ended. */
  get openTransactions(): number {
    return this.#open.size;
  }

  /** How many events of open transactions are kept. */
  get bufferedEvents(): number {
    return this.#bufferedEvents;
  }

  /** How many bytes of keys and values the records of these events have. */
  get bufferedBytes(): number {
    return this.#bufferedBytes;
  }

  /** Takes the next event of the stream and returns the items that come out. There are none while the event's transaction is open. */
  add(event: CdcEvent, nowMs: number): readonly AssembledItem[] {
    if (event.kind === "transaction") {
      return this.#addBoundary(event, nowMs);
    }
    const position = event.kind === "change" || event.kind === "truncate" || event.kind === "message" ? event.transaction : null;
    return position === null || position.totalOrder === 0n // not numbered: it could not be told from the transaction's other events
      ? [{ kind: "single", event, reason: "no-transaction" }]
      : this.#addPart(event as TransactionalEvent, position, nowMs); // the other kinds have no position
  }

  /** Gives up the transactions that had no record for `timeoutMs`. */
  expire(nowMs: number): readonly AssembledItem[] {
    const { timeoutMs } = this.#bounds;
    return [...this.#open.values()].filter((open) => nowMs - open.touchedMs >= timeoutMs).map((open) => this.#giveUp(open, "timeout"));
  }

  /** Gives up all open transactions. Call it if the stream ends or its partitions are given to another consumer. */
  drain(): readonly AssembledItem[] {
    return [...this.#open.values()].map((open) => this.#giveUp(open, "drained"));
  }

  #addBoundary(event: TransactionEvent, nowMs: number): readonly AssembledItem[] {
    const id = sharedId(event.id);
    if (this.#settled.get(id) !== undefined) {
      return []; // its transaction came out earlier
    }
    const open = this.#openFor(id, event, nowMs);
    if (event.status === "begin") {
      open.begin(event);
      return [];
    }
    open.end(event, this.#includes);
    return this.#completed(open);
  }

  #addPart(event: TransactionalEvent, position: TransactionPosition, nowMs: number): readonly AssembledItem[] {
    const id = sharedId(position.id);
    const settled = this.#settled.get(id);
    if (settled !== undefined) {
      return [{ kind: "single", event, reason: settled === "complete" ? "duplicate" : "late" }];
    }
    if (this.#open.get(id)?.has(position.totalOrder) === true) {
      return [{ kind: "single", event, reason: "duplicate" }];
    }
    const bytes = (event.record.key?.length ?? 0) + (event.record.value?.length ?? 0);
    const { maxBufferedEvents, maxBufferedBytes } = this.#bounds;
    if (this.#bufferedEvents + 1 > maxBufferedEvents || this.#bufferedBytes + bytes > maxBufferedBytes) {
      throw beyond(
        event,
        `open transactions hold ${this.#bufferedEvents} events of ${this.#bufferedBytes} bytes`,
        "maxBufferedEvents, maxBufferedBytes",
      );
    }
    const open = this.#openFor(id, event, nowMs);
    open.add(event.detach(), position.totalOrder, bytes);
    this.#bufferedEvents++;
    this.#bufferedBytes += bytes;
    return this.#completed(open);
  }

  #openFor(id: string, event: CdcEvent, nowMs: number): OpenTransaction {
    let open = this.#open.get(id);
    if (open === undefined) {
      if (this.#open.size >= this.#bounds.maxOpenTransactions) {
        throw beyond(event, `${this.#open.size} transactions are open`, "maxOpenTransactions");
      }
      open = new OpenTransaction(id);
      this.#open.set(id, open);
    }
    open.touchedMs = nowMs;
    return open;
  }

  #completed(open: OpenTransaction): readonly AssembledItem[] {
    return open.isComplete ? [{ kind: "transaction", transaction: this.#close(open, "complete") }] : [];
  }

  #giveUp(open: OpenTransaction, reason: "timeout" | "drained"): AssembledItem {
    return { kind: "incomplete", transaction: this.#close(open, "given-up"), reason, missing: open.missing() };
  }

  #close(open: OpenTransaction, settled: Settled): AssembledTransaction {
    this.#open.delete(open.id);
    this.#settled.set(open.id, settled);
    this.#bufferedEvents -= open.size;
    this.#bufferedBytes -= open.bytes;
    return open.assembled();
  }
}

/**
 * The part of a transaction's id that its boundaries and its events share. PostgreSQL's connector writes `<transaction>:<LSN>`, with an LSN of its
 * own in each of them. All other connectors write one id, and none that looks like this.
 */
function sharedId(id: string): string {
  return /^(\d{1,20}):\d{1,20}$/.exec(id)?.[1] ?? id;
}

const defaults = Object.freeze({
  maxOpenTransactions: 1_000,
  maxBufferedEvents: 100_000,
  maxBufferedBytes: 67_108_864,
  timeoutMs: 60_000,
  maxRemembered: 10_000,
});

function beyond(event: CdcEvent, found: string, options: string): DecodeError {
  const { topic, partition, offset } = event.record;
  return new DecodeError(
    "limit-exceeded",
    `expected unfinished transactions within ${options}, found that ${found}; call expire() or drain()`,
    {
      at: { topic, partition, offset },
    },
  );
}
