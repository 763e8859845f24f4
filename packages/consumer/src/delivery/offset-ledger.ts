import { Queue } from "./queue.ts";

/** A span of records that were taken together: a whole batch, or one record. Opaque outside the ledger. */
export interface OffsetSpan {
  /** Everything of the span below this offset is handled. Null while nothing is. */
  handledTo: bigint | null;
  settled: boolean;
}

/**
 * What is safe to commit of one partition during one assignment: the offset below which every record is handled. Spans are taken in offset
 * order and settled in any order. The watermark passes a span when that span and all earlier ones are settled.
 *
 * Each assignment has a ledger of its own. What is still settled in the ledger of a former assignment is not committed by anybody.
 */
export class OffsetLedger {
  readonly #open: Queue<OffsetSpan> = new Queue();
  #watermark: bigint | null = null;
  #committed: bigint | null = null;

  /** The offset to commit, or null while nothing is handled. It never goes back. */
  get watermark(): bigint | null {
    return this.#watermark;
  }

  /**
   * The watermark, if the broker does not have it yet. The broker may be ahead of the watermark: a transaction commits before the records
   * that it wrote are settled, and a commit of the watermark at that moment would move the group back.
   */
  get uncommitted(): bigint | null {
    return this.#watermark !== null && (this.#committed === null || this.#watermark > this.#committed) ? this.#watermark : null;
  }

  /** Spans that are not settled. */
  get inFlight(): number {
    return this.#open.all().filter(({ settled }) => !settled).length;
  }

  /** Spans that the watermark has not passed: those in flight, and those that are settled after the first of them. */
  get open(): number {
    return this.#open.size;
  }

  /** The next span in offset order is in flight from now on. */
  take(): OffsetSpan {
    const span: OffsetSpan = { handledTo: null, settled: false };
    this.#open.push(span);
    return span;
  }

  /** The partition goes on at `offset`, after what is in flight. It is committed even if no record comes there for a long time. */
  continueAt(offset: bigint): void {
    this.settle(this.take(), offset);
  }

  /** Everything of the span below `next` is handled, the rest is not. */
  advance(span: OffsetSpan, next: bigint): void {
    if (span.settled) {
      return;
    }
    span.handledTo = next;
    if (this.#open.head === span) {
      this.#raise(next);
    }
  }

  /** The whole span is handled, and the partition goes on at `next`. A second call changes nothing. */
  settle(span: OffsetSpan, next: bigint): void {
    if (span.settled) {
      return;
    }
    span.handledTo = next;
    span.settled = true;
    this.#collect();
  }

  /** The broker has this offset, from a plain commit or a transaction. */
  markCommitted(offset: bigint): void {
    if (this.#committed === null || offset > this.#committed) {
      this.#committed = offset;
    }
  }

  #collect(): void {
    let { head } = this.#open;
    for (; head?.settled === true; { head } = this.#open) {
      this.#raise(head.handledTo);
      this.#open.shift();
    }
    if (head !== undefined) {
      this.#raise(head.handledTo);
    }
  }

  #raise(next: bigint | null): void {
    if (next !== null && (this.#watermark === null || next > this.#watermark)) {
      this.#watermark = next;
    }
  }
}
