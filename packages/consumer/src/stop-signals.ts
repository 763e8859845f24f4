import type { Clock } from "./clock.ts";

/**
 * One press of Ctrl-C can come twice: from the terminal, and from npm, which passes its own on to the script that it has started, a few
 * milliseconds later. The same signal again is the same key press for so long.
 */
const sameKeyMs = 1_000;

/** What is done at signals that ask for a stop. */
export interface StopListeners {
  /** Called at the first of the signals. */
  readonly first: () => void;
  /** Called at every later one, except for the first one again within a second. */
  readonly again: () => void;
}

/** Calls the listeners at these signals, until the returned function is called. Until then the signals do not end the process. */
export function onStopSignals(
  signals: readonly NodeJS.Signals[],
  clock: Pick<Clock, "nowMs">,
  { first, again }: StopListeners,
): () => void {
  let seen: { readonly signal: NodeJS.Signals; readonly atMs: number } | null = null;
  const listener = (signal: NodeJS.Signals): void => {
    if (seen === null) {
      seen = { signal, atMs: clock.nowMs() };
      first();
    } else if (signal !== seen.signal || clock.nowMs() - seen.atMs >= sameKeyMs) {
      again();
    }
  };
  const unlisten = (): void => {
    for (const signal of signals) {
      process.off(signal, listener);
    }
  };
  try {
    for (const signal of signals) {
      process.on(signal, listener);
    }
  } catch (error) {
    unlisten(); // some system lacks one of them
    throw error;
  }
  return unlisten;
}
