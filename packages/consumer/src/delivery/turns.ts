import type { Clock } from "../clock.ts";
import type { FetchedBatch } from "../driver.ts";
import type { Fence } from "./fence.ts";

/** Reading the clock costs a good part of what routing an event costs, so it is read once in so many records, unless they take long. */
const maxRecordsPerClockReading = 16;

/**
 * The next fetch comes in beside the records of the last one. But a broker waits once its send buffer is full (`socket.send.buffer.bytes`: 100 KiB,
 * of which Linux makes twice as much), and only the event loop reads the socket. With a limit of time alone, or of 1 MiB, most of a fetch was still to
 * be sent when the records before it were handled.
 */
const maxWireBytes = 131_072;

/**
 * The turns of the event loop in which a consumer handles records, those of all partitions together: with turns of their own, a hundred partitions
 * would keep the event loop for a hundred times as long. A turn ends when others need the event loop, or when a broker waits for its socket to be
 * read. It begins when the clock is first read in it.
 */
export class Turns {
  readonly #clock: Clock;
  readonly #maxBlockMs: number;
  #recordsPerClockReading = 1;
  /** Since the clock was read. */
  #records = 0;
  #wireBytes = 0;
  #clockReadAtMs = 0;
  #startedAtMs = 0;
  /** A turn has begun, and the event loop has not come round since. */
  #isOpen = false;
  #begun = 0;
  /** The last one in the line of those who rest: each has a turn of its own, so that none is always the last. */
  #lastRest: Promise<void> = Promise.resolve();

  constructor(clock: Clock, maxBlockMs: number) {
    this.#clock = clock;
    this.#maxBlockMs = maxBlockMs;
  }

  /** A record of this batch was read. Its share of the wire is the mean: a record in a compressed batch has none of its own. */
  hasRead({ wireBytes, recordCount }: Pick<FetchedBatch, "wireBytes" | "recordCount">): void {
    if (wireBytes !== undefined && recordCount !== null) {
      this.#wireBytes += wireBytes / recordCount;
    }
  }

  /**
   * Asked before every record: what to await first. Null if it may follow at once. `fence`: that of its partition, with the lease; null if somebody
   * else asks the lease.
   */
  restWhereDue(fence: Fence | null): Promise<void> | null {
    this.#records++;
    return this.#records < this.#recordsPerClockReading && this.#wireBytes < maxWireBytes ? null : this.#restAtClock(fence);
  }

  /** The same before many records that are handled together: the clock is read in any case. */
  restBeforeBatch(fence: Fence | null): Promise<void> | null {
    this.#records = Math.max(1, this.#records);
    return this.#restAtClock(fence);
  }

  #restAtClock(fence: Fence | null): Promise<void> | null {
    const isSocketDue = this.#wireBytes >= maxWireBytes;
    const nowMs = this.#clock.nowMs();
    if (fence?.lease.isOverAt(nowMs) === true) {
      this.#records = maxRecordsPerClockReading; // so that the other partitions ask the lease, too
      return fence.leased();
    }
    if (!this.#isOpen && !isSocketDue) {
      this.#begin(nowMs);
      return null;
    }
    this.#readClockSoonEnough(nowMs);
    return isSocketDue || nowMs - this.#startedAtMs >= this.#maxBlockMs ? this.#rest() : null;
  }

  /** The clock is read again after as many records as fit into a turn, by what the last ones took. */
  #readClockSoonEnough(nowMs: number): void {
    const perRecordMs = (nowMs - this.#clockReadAtMs) / this.#records;
    this.#recordsPerClockReading = Math.max(1, Math.min(maxRecordsPerClockReading, Math.floor(this.#maxBlockMs / perRecordMs) || 1));
    this.#clockReadAtMs = nowMs;
    this.#records = 0;
  }

  #rest(): Promise<void> {
    this.#lastRest = this.#lastRest.then(() => this.#clock.yieldToEventLoop()).then(() => this.#begin(this.#clock.nowMs()));
    return this.#lastRest;
  }

  #begin(nowMs: number): void {
    const begun = ++this.#begun;
    this.#startedAtMs = nowMs;
    this.#clockReadAtMs = nowMs;
    this.#wireBytes = 0;
    this.#records = -1; // some record is handled in each turn
    this.#isOpen = true;
    void this.#clock.yieldToEventLoop().then(() => {
      this.#isOpen &&= begun !== this.#begun;
    });
  }
}
