/** Where a consumer takes its time from. If a test owns the clock, hours of back-off pass in no time, and every run is the same. */
export interface Clock {
  /** Milliseconds that only go forward. Only differences mean something. */
  nowMs(): number;
  /** Milliseconds since the epoch. */
  wallMs(): number;
  /** Calls once, after this long. The returned function cancels the call, and may be called at any time. */
  after(delayMs: number, call: () => void): () => void;
  /** Resolves in a later turn of the event loop, after timers, sockets and signals had theirs. */
  yieldToEventLoop(): Promise<void>;
}

/** The longest delay of Node's timers. A longer one overflows, and the timer fires at once. */
export const maxTimerMs = 2_147_483_647;

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
