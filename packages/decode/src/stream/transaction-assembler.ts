import { DecodeError } from "../errors.ts";
import type { CdcEvent, TransactionEvent, TransactionPosition } from "../event.ts";
import type { AssembledItem, AssembledTransaction, TransactionalEvent } from "./assembled-item.ts";
import { resolveBounds } from "./bounds.ts";
import { OpenTransaction } from "./open-transaction.ts";
import { RecentMap } from "./recent-map.ts";
import { bindMethods } from "../bind-methods.ts";

/** What a {@link TransactionAssembler} may keep, and for how long. */
export interface TransactionAssemblerOptions {
  /**
   * Transactions that are open at once.
   * @default 1_000
   */
  readonly maxOpenTransactions?: number;
  /**
   * Events of all open transactions together.
   * @default 100_000
   */
  readonly maxBufferedEvents?: number;
  /**
   * Bytes of the keys and values of those events.
   * @default 67_108_864
   */
  readonly maxBufferedBytes?: number;
  /**
   * How long nothing may come of an open transaction before `expire` gives it up.
   * @default 60_000
   */
  readonly timeoutMs?: number;
  /**
   * Transactions that came out and are remembered, so that their events are known when they are delivered again.
   * @default 10_000
   */
  readonly maxRemembered?: number;
  /**
   * Whether this stream brings the events of a data collection, as the END record names it (`public.orders`). A consumer that reads some
   * of a connector's tables says so here: what it never sees is not waited for.
   * @default every collection
   */
  readonly includes?: (dataCollection: string) => boolean;
}

type Settled = "complete" | "given-up";

/**
 * Puts the transactions of one Debezium connector together again, from change events that name theirs and the connector's transaction
 * topic (`provide.transaction.metadata`). In whatever order the two topics, and the partitions of the first, arrive: a transaction comes
 * out when its END record has come and as many events as that one counts.
 *
 * It keeps time by what it is told (`nowMs`, from any clock that does not go back) and never starts a timer: call `expire` now and then.
 * Where a bound is reached, `add` throws a `DecodeError` of code `limit-exceeded` and has not taken the event: expire or drain, and add it
 * again. One assembler a connector: transaction ids mean nothing across connectors.
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

  get openTransactions(): number {
    return this.#open.size;
  }

  get bufferedEvents(): number {
    return this.#bufferedEvents;
  }

  get bufferedBytes(): number {
    return this.#bufferedBytes;
  }

  /** Takes the next event of the stream, and returns what it brings about: nothing while its transaction is open. */
  add(event: CdcEvent, nowMs: number): readonly AssembledItem[] {
    if (event.kind === "transaction") {
      return this.#addBoundary(event, nowMs);
    }
    const position = event.kind === "change" || event.kind === "truncate" || event.kind === "message" ? event.transaction : null;
    return position === null
      ? [{ kind: "single", event, reason: "no-transaction" }]
      : this.#addPart(event as TransactionalEvent, position, nowMs); // the other kinds have no position
  }

  /** Gives up the transactions of which nothing came for `timeoutMs`. */
  expire(nowMs: number): readonly AssembledItem[] {
    const { timeoutMs } = this.#bounds;
    return [...this.#open.values()].filter((open) => nowMs - open.touchedMs >= timeoutMs).map((open) => this.#giveUp(open, "timeout"));
  }

  /** Gives up everything that is open: the stream ends, or its partitions are somebody else's now. */
  drain(): readonly AssembledItem[] {
    return [...this.#open.values()].map((open) => this.#giveUp(open, "drained"));
  }

  #addBoundary(event: TransactionEvent, nowMs: number): readonly AssembledItem[] {
    if (this.#settled.get(event.id) !== undefined) {
      return []; // it says nothing new of what came out already
    }
    const open = this.#openFor(event.id, event, nowMs);
    if (event.status === "begin") {
      open.begin(event);
      return [];
    }
    open.end(event, this.#includes);
    return this.#completed(open);
  }

  #addPart(event: TransactionalEvent, position: TransactionPosition, nowMs: number): readonly AssembledItem[] {
    const settled = this.#settled.get(position.id);
    if (settled !== undefined) {
      return [{ kind: "single", event, reason: settled === "complete" ? "duplicate" : "late" }];
    }
    if (this.#open.get(position.id)?.has(position.totalOrder) === true) {
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
    const open = this.#openFor(position.id, event, nowMs);
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

const defaults = Object.freeze({
  maxOpenTransactions: 1_000,
  maxBufferedEvents: 100_000,
  maxBufferedBytes: 67_108_864,
  timeoutMs: 60_000,
  maxRemembered: 10_000,
});

function beyond(event: CdcEvent, found: string, options: string): DecodeError {
  const { topic, partition, offset } = event.record;
  return new DecodeError("limit-exceeded", `cannot keep more of unfinished transactions (${options}): ${found}; expire or drain them`, {
    at: { topic, partition, offset },
  });
}
