/** The time that the client lives by; tests hand over their own. */
export interface Clock {
  /** Milliseconds that only ever grow, whatever happens to the system's clock: cache lifetimes are measured with them. */
  monotonicMs(): number;
  /** Milliseconds since the epoch. */
  wallMs(): number;
  /** Runs a function once, later. Returns its cancellation. */
  after(delayMs: number, run: () => void): () => void;
}

export const systemClock: Clock = Object.freeze({
  monotonicMs: () => performance.now(),
  wallMs: () => Date.now(),
  after: (delayMs: number, run: () => void) => {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
});

/** Resolves after the delay, or rejects with the signal's reason as soon as it aborts. */
export function wait(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const onAbort = (): void => {
      cancel();
      reject(signal.reason);
    };
    const cancel = clock.after(delayMs, () => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    });
    signal.addEventListener("abort", onAbort, { once: true });
  });
}
