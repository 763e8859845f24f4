/** The time that the client uses. Tests pass a clock of their own. A consumer's `Clock` fits, too. */
export interface RegistryClock {
  /** Milliseconds that never go back, whatever happens to the system's clock. Cache lifetimes are measured with them. */
  nowMs(): number;
  /** Milliseconds since the epoch. */
  wallMs(): number;
  /** Runs a function once, after the delay. Returns a function that cancels it. */
  after(delayMs: number, run: () => void): () => void;
}

export const systemClock: RegistryClock = Object.freeze({
  nowMs: () => performance.now(),
  wallMs: () => Date.now(),
  after: (delayMs: number, run: () => void) => {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
});

/** Resolves after the delay, or rejects with the signal's reason as soon as it aborts. */
export function wait(clock: RegistryClock, delayMs: number, signal: AbortSignal): Promise<void> {
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
