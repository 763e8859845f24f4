/** Where a consumer takes its time from. A test that owns the clock makes hours of back-off pass in no time, and each run alike. */
export interface Clock {
  /** Milliseconds that only go forward; differences count. */
  nowMs(): number;
  /** Milliseconds since the epoch. */
  wallMs(): number;
  /** Calls once, after so long. The returned function takes the call back, and may be called at any time. */
  after(delayMs: number, call: () => void): () => void;
  /** Resolves in a later turn of the event loop: timers, sockets and signals have theirs first. */
  yieldToEventLoop(): Promise<void>;
}

/** The process' own clock. */
export const systemClock: Clock = Object.freeze({
  nowMs: () => performance.now(),
  wallMs: () => Date.now(),
  after: (delayMs: number, call: () => void) => {
    const timer = setTimeout(call, delayMs);
    return () => clearTimeout(timer);
  },
  yieldToEventLoop: () => new Promise<void>((resolve) => setImmediate(resolve)),
});
