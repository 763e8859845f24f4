/** What one consumer did in one window of time. */
export interface SoakWindow {
  /** Since the measurement began. */
  readonly fromMs: number;
  readonly lengthMs: number;
  readonly events: number;
  /** From the intended time of a record until it was handled. Null without a set rate: a backlog's age says nothing. */
  readonly latencyMs: { readonly p50: number; readonly p95: number; readonly p99: number } | null;
  readonly heapBytes: number;
  /** Of the whole process: all consumers and the writers. */
  readonly rssBytes: number;
  readonly gcMs: number;
  /** Share of the time in which the consumer's thread was busy, 0 to 1. */
  readonly busyShare: number;
}

/** When there are more, neighbours are merged: a soak of hours fits into the same memory. */
export const maxSoakWindows = 1_200;

/** Windows in their order, in bounded memory. */
export class SoakSeries {
  #windows: SoakWindow[] = [];
  #pending: SoakWindow[] = [];
  /** So many windows that come are one of ours. */
  #each = 1;

  get windows(): readonly SoakWindow[] {
    return this.#pending.length === 0 ? this.#windows : [...this.#windows, merged(this.#pending)];
  }

  add(window: SoakWindow): void {
    this.#pending.push(window);
    if (this.#pending.length < this.#each) {
      return;
    }
    this.#windows.push(merged(this.#pending));
    this.#pending = [];
    if (this.#windows.length >= maxSoakWindows) {
      this.#windows = this.#windows.flatMap((first, i) =>
        i % 2 === 1 ? [] : [merged([first, this.#windows[i + 1]].filter((each) => each !== undefined))],
      );
      this.#each *= 2;
    }
  }
}

/** One window of several: sums, means by time, and of latencies the mean of the medians by events and the worst p95 and p99. */
export function merged(windows: readonly SoakWindow[]): SoakWindow {
  const lengthMs = sumOf(windows, (window) => window.lengthMs);
  const events = sumOf(windows, (window) => window.events);
  const byTime = (of: (window: SoakWindow) => number): number =>
    sumOf(windows, (window) => of(window) * window.lengthMs) / Math.max(1, lengthMs);
  const timed = windows.filter(({ latencyMs }) => latencyMs !== null);
  const timedEvents = sumOf(timed, (window) => window.events);
  return {
    fromMs: windows[0]?.fromMs ?? 0,
    lengthMs,
    events,
    latencyMs:
      timed.length === 0
        ? null
        : {
            p50: sumOf(timed, (window) => (window.latencyMs?.p50 ?? 0) * window.events) / Math.max(1, timedEvents),
            p95: Math.max(...timed.map(({ latencyMs }) => latencyMs?.p95 ?? 0)),
            p99: Math.max(...timed.map(({ latencyMs }) => latencyMs?.p99 ?? 0)),
          },
    heapBytes: Math.round(byTime((window) => window.heapBytes)),
    rssBytes: Math.round(byTime((window) => window.rssBytes)),
    gcMs: sumOf(windows, (window) => window.gcMs),
    busyShare: byTime((window) => window.busyShare),
  };
}

function sumOf<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((sum, item) => sum + of(item), 0);
}
