export interface BothClocks {
  /** Only goes forward. */
  readonly nowMs: () => number;
  /** Is set by people and by time servers. */
  readonly wallMs: () => number;
}

const bothClocks: BothClocks = { nowMs: () => performance.now(), wallMs: () => Date.now() };

/**
 * The interval of heartbeats, as kafkajs gets it in place of a number. kafkajs sends a heartbeat when the wall clock has passed that of the last one by
 * the interval (`Date.now() >= lastRequest + interval`). If the clock is set back by an hour, it sends none for an hour: the group removes the member
 * after its session, kafkajs joins again without a heartbeat that would follow, and a member that is alone and idle is not even told. So the interval is
 * shorter by what the clock was set back since the last heartbeat. JavaScript asks an object in a sum for its `valueOf`.
 */
export class HeartbeatInterval {
  readonly #intervalMs: number;
  readonly #clocks: BothClocks;
  #aheadMs: number;

  constructor(intervalMs: number, clocks: BothClocks = bothClocks) {
    this.#intervalMs = intervalMs;
    this.#clocks = clocks;
    this.#aheadMs = this.#wallAheadMs();
  }

  /** A heartbeat was answered: kafkajs counts from now on. */
  sent(): void {
    this.#aheadMs = this.#wallAheadMs();
  }

  valueOf(): number {
    return this.#intervalMs - Math.max(0, this.#aheadMs - this.#wallAheadMs());
  }

  #wallAheadMs(): number {
    return this.#clocks.wallMs() - this.#clocks.nowMs();
  }
}
