import type { Held } from "./assignments.ts";

/** Waits for something about a partition. If the partition was given up meanwhile, the steps end here. */
export type StillHeld = <T>(work: Promise<T> | T) => Promise<T>;

const over: unique symbol = Symbol("the partition was given up");

/**
 * Runs steps for a partition for as long as this member holds it. While a step waits for the brokers, a rebalance may give the partition to
 * another member, a recreated topic or a seek may replace the assignment, or the session may end. The answer is then about an assignment that
 * is over, and acting on it could commit over the new owner's position, move the new assignment, or fail a session that has done nothing wrong.
 * So each wait is written `await still(...)`, and ends the steps in that case. That is no failure.
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
