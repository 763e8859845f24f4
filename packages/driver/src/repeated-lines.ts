const firstGapMs = 5_000;
const maxGapMs = 60_000;
/** How many different lines are remembered. The oldest is forgotten first, and may then be logged again. */
const maxRemembered = 100;

interface Repeated {
  lastMs: number;
  gapMs: number;
  leftOut: number;
}

/**
 * Lines of a client's log that come again and again, as its retries do. Each is logged with growing gaps, from five seconds to a minute, and counts
 * what was left out. A hundred different lines are remembered.
 */
export class RepeatedLines {
  readonly #nowMs: () => number;
  readonly #seen = new Map<string, Repeated>();

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** How many such lines were left out since the last one that was logged; null if this one is left out, too. */
  leftOutBefore(line: string): number | null {
    const nowMs = this.#nowMs();
    const before = this.#seen.get(line);
    if (before === undefined) {
      const [oldest] = this.#seen.size >= maxRemembered ? this.#seen.keys() : [];
      if (oldest !== undefined) {
        this.#seen.delete(oldest);
      }
      this.#seen.set(line, { lastMs: nowMs, gapMs: firstGapMs, leftOut: 0 });
      return 0;
    }
    if (nowMs - before.lastMs < before.gapMs) {
      before.leftOut++;
      return null;
    }
    const { leftOut } = before;
    const isOver = nowMs - before.lastMs > 2 * maxGapMs;
    this.#seen.set(line, { lastMs: nowMs, gapMs: isOver ? firstGapMs : Math.min(before.gapMs * 2, maxGapMs), leftOut: 0 });
    return leftOut;
  }
}
