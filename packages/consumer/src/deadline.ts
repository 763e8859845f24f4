import type { Clock } from "./clock.ts";

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
