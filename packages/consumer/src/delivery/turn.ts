import type { Clock } from "../clock.ts";
import type { Fence } from "./fence.ts";

/** Reading the clock costs a good part of what routing an event costs, so it is read once in so many records, unless they take long. */
const maxRecordsPerClockReading = 16;

/**
 * The next fetch comes in beside the records of the last one. But a broker waits once its send buffer is full (`socket.send.buffer.bytes`: 100 KiB,
 * of which Linux makes twice as much), and only the event loop reads the socket. With a limit of time alone, most of a fetch was still to be sent
 * when the records before it were handled.
 */
const maxReadBytes = 262_144;

/**
 * A turn of the event loop in which records are handled. It ends when others need the event loop, when a broker waits for its socket to be read,
 * or when the lease is over.
 */
export class Turn {
  readonly #clock: Clock;
  readonly #fence: Fence | null;
  readonly #maxBlockMs: number;
  #recordsPerClockReading = maxRecordsPerClockReading;
  #untilClock = maxRecordsPerClockReading;
  #startedAtMs: number;
  #clockReadAtMs: number;
  #readBytes = 0;

  /** `fence`: null if whoever hands on the records asks the lease. */
  constructor(clock: Clock, fence: Fence | null, maxBlockMs: number) {
    this.#clock = clock;
    this.#fence = fence;
    this.#maxBlockMs = maxBlockMs;
    this.#startedAtMs = clock.nowMs();
    this.#clockReadAtMs = this.#startedAtMs;
  }

  /** A record of so many bytes was read. */
  hasRead(bytes: number): void {
    this.#readBytes += bytes;
  }

  /** Asked before every record: what to await first. Null if the record may follow at once. */
  restWhereDue(): Promise<void> | null {
    const isReadEnough = this.#readBytes >= maxReadBytes;
    if (--this.#untilClock > 0 && !isReadEnough) {
      return null;
    }
    const nowMs = this.#clock.nowMs();
    this.#readClockSoonEnough(nowMs);
    if (this.#fence?.lease.isOverAt(nowMs) === true) {
      return this.#fence.leased();
    }
    return isReadEnough || nowMs - this.#startedAtMs >= this.#maxBlockMs ? this.#yieldToEventLoop() : null;
  }

  /** After as many records as fit into a turn, by what the last ones took. */
  #readClockSoonEnough(nowMs: number): void {
    const perRecordMs = (nowMs - this.#clockReadAtMs) / this.#recordsPerClockReading;
    this.#clockReadAtMs = nowMs;
    this.#recordsPerClockReading = Math.max(1, Math.min(maxRecordsPerClockReading, Math.floor(this.#maxBlockMs / perRecordMs) || 1));
    this.#untilClock = this.#recordsPerClockReading;
  }

  async #yieldToEventLoop(): Promise<void> {
    await this.#clock.yieldToEventLoop();
    this.#readBytes = 0;
    this.#startedAtMs = this.#clock.nowMs();
    this.#clockReadAtMs = this.#startedAtMs;
    this.#untilClock = this.#recordsPerClockReading + 1; // some record is handled in each turn
  }
}
