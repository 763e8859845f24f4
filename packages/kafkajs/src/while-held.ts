import type { Held } from "./assignments.ts";

/** Waits for something about a partition. If the partition was given up meanwhile, the steps end here. */
export type StillHeld = <T>(work: Promise<T> | T) => Promise<T>;

const over: unique symbol = Symbol("the partition was given up");

/**
 * Takes steps about a partition for as long as this member holds it. While a step waits for the brokers, a rebalance may give the partition
 * to another member, a recreated topic or a seek may replace its assignment, and the session may end. What the step then brings is about an
 * assignment that is over: acting on it would move, commit or fail what belongs to somebody else. So each wait is written
 * `await still(...)`. Steps that end early are no failure.
 */
export async function whileHeld(held: Held, steps: (still: StillHeld) => Promise<void>): Promise<void> {
  const still: StillHeld = async (work) => {
    const brought = await work;
    if (held.isOver) {
      throw over;
    }
    return brought;
  };
  try {
    await steps(still);
  } catch (error) {
    if (error !== over) {
      throw error;
    }
  }
}
