import { mulberry32 } from "./mulberry32.ts";

/** What decides which turn comes next, of those that could. */
export interface Scheduler {
  /** Puts a turn in line. */
  post(turn: () => void): void;
  /** Takes out the turn that comes next, or undefined if there is none. */
  take(): (() => void) | undefined;
  /** From 0 to below 1, the same numbers in every run: for back-off, and for a test's own choices. */
  random(): number;
}

/** A scheduler whose choices come from a seed. */
export interface SeededScheduler extends Scheduler {
  /** To be printed if a test fails. */
  readonly seed: number;
}

/**
 * Any turn that could come next may come next: one seed is one schedule, today and on every machine. Requests on one connection stay in
 * their order all the same, because the broker in memory keeps it.
 */
export function seededScheduler(seed: number): SeededScheduler {
  return Object.freeze({ ...schedulerOf(seed, (waiting, random) => Math.floor(random() * waiting)), seed });
}

/** Turns come in the order in which they were posted. */
export function inOrderScheduler(): Scheduler {
  return Object.freeze(schedulerOf(0, () => 0));
}

function schedulerOf(seed: number, choose: (waiting: number, random: () => number) => number): Scheduler {
  const random = mulberry32(seed);
  const waiting: (() => void)[] = [];
  return {
    post: (turn) => void waiting.push(turn),
    take: () => (waiting.length === 0 ? undefined : waiting.splice(choose(waiting.length, random), 1)[0]),
    random,
  };
}
