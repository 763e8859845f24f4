import type { Clock } from "./clock.ts";

/** One time that several steps share, one after the other. */
export class Deadline {
  readonly #clock: Clock;
  readonly #atMs: number;

  constructor(clock: Clock, withinMs: number) {
    this.#clock = clock;
    this.#atMs = clock.nowMs() + withinMs;
  }

  /** Whole milliseconds, as drivers take them. */
  get leftMs(): number {
    return Math.max(0, Math.floor(this.#atMs - this.#clock.nowMs()));
  }
}

/**
 * Resolves with whether `work` settled within the time, and before `overdue` resolved. A rejection counts as settled: the code that started the
 * work reports it.
 */
export async function settledWithin(work: Promise<unknown>, timeoutMs: number, clock: Clock, overdue?: Promise<void>): Promise<boolean> {
  let takeBack = (): void => {};
  const late = new Promise<false>((resolve) => {
    takeBack = clock.after(timeoutMs, () => resolve(false));
  });
  const settled = work.then(
    () => true as const,
    () => true as const,
  );
  try {
    return await Promise.race([settled, late, ...(overdue === undefined ? [] : [overdue.then(() => false)])]);
  } finally {
    takeBack();
  }
}
