/** The machine gave this process nothing to run on: nor, likely, the members and the broker. */
export interface Stall {
  readonly sinceMs: number;
  readonly untilMs: number;
}

const everyMs = 100;
/** Collecting garbage, or judging what is written, takes less. */
const minStallMs = 500;

/** Notes down when the machine stands still: a timer comes late. A session that runs out of time then is nobody's mistake. */
export class StallWatch {
  readonly #stalls: Stall[] = [];
  readonly #timer: NodeJS.Timeout;
  #lastMs: number = Date.now();

  constructor() {
    this.#timer = setInterval(() => this.#look(), everyMs);
  }

  get stalls(): readonly Stall[] {
    return this.#stalls;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const nowMs = Date.now();
    if (nowMs - this.#lastMs - everyMs >= minStallMs) {
      this.#stalls.push({ sinceMs: this.#lastMs, untilMs: nowMs });
    }
    this.#lastMs = nowMs;
  }
}
