/** Reading the clock at each of many events would be a part of what is measured. */
const eventsPerReading = 16;
/** Of so few, the last event that was timed could be far from the last. */
const firstTimedEvents = 256;

/** When the first and the last of many events were handled. */
export class EventClock {
  readonly #nowMs: () => number;
  events = 0;
  /** Null before any event. */
  firstAtMs: number | null = null;
  /** Of the last event, or of one of the fifteen before it if there were many. Null before any event. */
  lastAtMs: number | null = null;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  count(): void {
    if (this.events < firstTimedEvents || this.events % eventsPerReading === 0) {
      this.lastAtMs = this.#nowMs();
      this.firstAtMs ??= this.lastAtMs;
    }
    this.events++;
  }
}

/**
 * From the first event to the last one over all of them, or to where they were broken off: one that stood still then is not as fast as it was before.
 * In milliseconds; 0 without any event.
 */
export function spanOf(
  clocks: readonly { readonly firstEventAtMs: number | null; readonly lastEventAtMs: number | null }[],
  brokenOffAtMs: number | null = null,
): number {
  const firsts = clocks.map(({ firstEventAtMs }) => firstEventAtMs).filter((at) => at !== null);
  const lasts = [...clocks.map(({ lastEventAtMs }) => lastEventAtMs), brokenOffAtMs].filter((at) => at !== null);
  return firsts.length === 0 ? 0 : Math.max(...lasts) - Math.min(...firsts);
}
