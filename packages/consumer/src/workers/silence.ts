import type { Phase } from "../lifecycle.ts";

/** One interval after which the threads are looked at, and how much later than that it was. */
export interface PassedInterval {
  readonly intervalMs: number;
  /** What the looking thread has lost: its own timer came late. */
  readonly lateMs: number;
}

/**
 * Before a thread runs, no handler can block it, and it holds no partition that nobody reads. It loads clients and joins the group meanwhile, which
 * takes long on a machine that is short of CPU time.
 */
const minBeforeRunningMs = 40_000;

/** `health()` names a silence within 5 seconds, long before the thread has failed: it asks once a second. */
const namedAfterMs = 3_000;

/** For how long a thread has said nothing, and what that may mean. */
export class Silence {
  readonly #stuckAfterMs: number;
  #silentMs = 0;
  #lostMs = 0;
  #intervalMs = 0;

  constructor(stuckAfterMs: number) {
    this.#stuckAfterMs = stuckAfterMs;
  }

  heard(): void {
    this.#silentMs = 0;
    this.#lostMs = 0;
  }

  /**
   * Intervals are counted, and not time: if the whole process stood still, no thread could say anything. What was lost is noted, too, because
   * a thread that computes gets its turn later than this one, which hardly needs any.
   */
  passed({ intervalMs, lateMs }: PassedInterval): void {
    this.#intervalMs = intervalMs;
    this.#silentMs += intervalMs;
    this.#lostMs += Math.max(0, lateMs);
  }

  isTooLong(phase: Phase): boolean {
    return this.#silentMs > this.#allowedMs(phase);
  }

  /** What `health()` says of it; null if the thread spoke a short time ago. A phase of null: it has made no consumer yet. */
  reasonIn(phase: Phase | null): string | null {
    if (this.#silentMs <= namedAfterMs) {
      return null;
    }
    const seconds = Math.round(this.#silentMs / 1_000);
    if (phase === null) {
      return `it has been loading its module for ${seconds} s: the module's own code, or the function that makes the consumer, has not ended`;
    }
    const { doing, why } = wordsFor(phase);
    return `it has said nothing for ${seconds} s while it was ${doing}: ${why} ${causes}`;
  }

  /** What is said of the thread after its name. */
  textOf(phase: Phase): string {
    const lost = this.#hasLost
      ? `, and for ${Math.round(this.#lostMs)} ms more in which the whole process stood still or had too little CPU time,`
      : "";
    const { doing, why, advice } = wordsFor(phase);
    return `has said nothing for ${Math.round(this.#allowedMs(phase))} ms${lost} while it was ${doing}: ${why} ${causes}; ${advice}`;
  }

  /** With the lost time once more, but no more than twice its time: else a blocked thread stays where this thread is always late. */
  #allowedMs(phase: Phase): number {
    const allowedMs = isBeforeRunning(phase) ? Math.max(this.#stuckAfterMs, minBeforeRunningMs) : this.#stuckAfterMs;
    return this.#hasLost ? allowedMs + Math.min(this.#lostMs, allowedMs) : allowedMs;
  }

  /** A timer is always a little late. */
  get #hasLost(): boolean {
    return this.#lostMs >= this.#intervalMs;
  }
}

function isBeforeRunning(phase: Phase): boolean {
  return phase === "idle" || phase === "connecting";
}

function wordsFor(phase: Phase): { readonly doing: string; readonly why: string; readonly advice: string } {
  return isBeforeRunning(phase) ? beforeRunning : phase === "running" ? running : stopping;
}

const causes = "blocks its event loop, or the machine gives the thread too little CPU time";
const beforeRunning = {
  doing: "connecting",
  why: "code that sets up or connects its consumer",
  advice: "yield in that code, or give the process more CPU time or fewer workers",
};
const running = {
  doing: "running, so its partitions are read by nobody",
  why: "a handler, or other code on that thread,",
  advice: "yield in the handler, give the process more CPU time or fewer workers, or raise health.stuckAfterMs",
};
const stopping = {
  doing: "stopping",
  why: "a handler, or code that closes what the consumer uses,",
  advice: "yield in that code, or give the process more CPU time or fewer workers",
};
