import { medianOf } from "./rounds.ts";

/** How many of something came in each window of time. */
export interface RateWindow {
  /** Milliseconds after the first one came. */
  readonly fromMs: number;
  readonly count: number;
}

export interface RateSeriesSummary {
  readonly count: number;
  /** From the first to the last. */
  readonly elapsedMs: number;
  readonly perSecond: RateFigures;
  /** The length of the windows that `p50` and `peak` are of. */
  readonly windowMs: number;
  /** The time series: at most {@link maxWindows} windows of `seriesWindowMs`; the last one is of half to one and a half of it. */
  readonly series: readonly (readonly [fromMs: number, perSecond: number])[];
  readonly seriesWindowMs: number;
}

/** Events a second. */
export interface RateFigures {
  readonly avg: number;
  /** The median of the whole windows. Null if there are fewer than three. */
  readonly p50: number | null;
  readonly peak: number | null;
}

const finestWindowMs = 50;
/** When there are more, neighbours are merged and windows become twice as long: any number of events fits into the same memory. */
export const maxWindows = 1_200;
/** Windows of a second, if there are enough of them; of a tenth of a second in a short run. */
const longRunMs = 10_000;
const longWindowMs = 1_000;
const shortWindowMs = 100;
const fewestWindows = 3;

/** Counts what comes, by window of time, in bounded memory. */
export class RateSeries {
  #counts: number[] = [];
  #windowMs = finestWindowMs;
  #startedAtMs: number | null = null;
  #endedAtMs = 0;
  count = 0;

  get startedAtMs(): number | null {
    return this.#startedAtMs;
  }

  /** From the start to the last that came. */
  get elapsedMs(): number {
    return this.#startedAtMs === null ? 0 : this.#endedAtMs - this.#startedAtMs;
  }

  /** The clock starts: with the first event if nobody says so before. @param atMs of `performance.now()`, as everywhere here */
  start(atMs: number): void {
    this.#startedAtMs ??= atMs;
    this.#endedAtMs = Math.max(this.#endedAtMs, this.#startedAtMs);
  }

  /** Nothing more comes, and the time until now counts: of a run that ends in front of its end, and may have stood still. */
  breakOff(atMs: number): void {
    if (this.#startedAtMs !== null) {
      this.add(0, atMs);
    }
  }

  add(count: number, atMs: number): void {
    const startedAtMs = (this.#startedAtMs ??= atMs);
    this.#endedAtMs = Math.max(this.#endedAtMs, atMs);
    this.count += count;
    let window = Math.max(0, Math.floor((atMs - startedAtMs) / this.#windowMs));
    while (window >= maxWindows) {
      this.#merge();
      window = Math.floor((atMs - startedAtMs) / this.#windowMs);
    }
    this.#counts[window] = (this.#counts[window] ?? 0) + count;
  }

  summary(): RateSeriesSummary {
    const { elapsedMs } = this;
    const wantedMs = elapsedMs >= longRunMs ? longWindowMs : shortWindowMs;
    const windowMs = this.#lengthNear(wantedMs);
    const seriesWindowMs = this.#lengthNear(shortWindowMs);
    const whole = this.#windows(windowMs).slice(0, Math.floor(elapsedMs / windowMs));
    const rates = whole.map(({ count }) => (count / windowMs) * 1e3);
    return {
      count: this.count,
      elapsedMs,
      perSecond: {
        avg: elapsedMs > 0 ? (this.count / elapsedMs) * 1e3 : 0,
        p50: rates.length < fewestWindows ? null : medianOf(rates),
        peak: rates.length < fewestWindows ? null : Math.max(...rates),
      },
      windowMs,
      series: this.#ratesIn(seriesWindowMs),
      seriesWindowMs,
    };
  }

  /**
   * The length of windows that is nearest to the wanted one: of a whole number of our own. Ours are of 400 ms after four minutes, so that no
   * windows of a second can be made of them, and what is counted in 1,200 ms must not be taken for a second's.
   */
  #lengthNear(wantedMs: number): number {
    return Math.max(1, Math.round(wantedMs / this.#windowMs)) * this.#windowMs;
  }

  /** @param windowMs a length of {@link #lengthNear} */
  #windows(windowMs: number): readonly RateWindow[] {
    const each = windowMs / this.#windowMs;
    const windows: RateWindow[] = [];
    for (let from = 0; from < this.#counts.length; from += each) {
      let count = 0;
      for (let i = from; i < Math.min(from + each, this.#counts.length); i++) {
        count += this.#counts[i] ?? 0;
      }
      windows.push({ fromMs: from * this.#windowMs, count });
    }
    return windows;
  }

  /** Of a last window of a millisecond, the rate would be chance: what is shorter than half a window counts to the one before. */
  #ratesIn(windowMs: number): readonly (readonly [fromMs: number, perSecond: number])[] {
    const windows = this.#windows(windowMs);
    const [before, last] = windows.slice(-2);
    const isTail = last !== undefined && this.elapsedMs - last.fromMs < windowMs / 2;
    const shown = isTail && before !== undefined ? [...windows.slice(0, -2), { ...before, count: before.count + last.count }] : windows;
    return shown.map(({ fromMs, count }, i) => {
      const lengthMs = i === shown.length - 1 ? Math.max(1, this.elapsedMs - fromMs) : windowMs;
      return [fromMs, Math.round((count / lengthMs) * 1e3)];
    });
  }

  #merge(): void {
    const merged: number[] = [];
    for (let i = 0; i < this.#counts.length; i += 2) {
      merged.push((this.#counts[i] ?? 0) + (this.#counts[i + 1] ?? 0));
    }
    this.#counts = merged;
    this.#windowMs *= 2;
  }
}
