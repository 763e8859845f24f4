import type { HeldPartition } from "./assignments.ts";

/** Waits for something about a partition. If the partition was given up meanwhile, the work ends here. */
export type StillHeld = <T>(awaited: Promise<T> | T) => Promise<T>;

/** Ends the work, and never leaves this file. */
class GivenUp extends Error {}

/**
 * Does work for a partition for as long as this member holds it. While the work waits for the brokers, a rebalance may give the partition to
 * another member, a recreated topic or a seek may replace the assignment, or the session may end. The answer is then about an assignment that
 * is over, and acting on it could commit over the new owner's position, move the new assignment, or fail a session that has done nothing wrong.
 * So each wait is written `await still(...)`, and ends the work in that case. That is no failure.
 */
export async function whileHeld(held: Pick<HeldPartition, "isOver">, work: (still: StillHeld) => Promise<void>): Promise<void> {
  const still: StillHeld = async (awaited) => {
    const brought = await awaited;
    if (held.isOver) {
      throw new GivenUp();
    }
    return brought;
  };
  try {
    await work(still);
  } catch (error) {
    if (!(error instanceof GivenUp)) {
      throw error;
    }
  }
}
