import { untilAborted } from "./bounded.ts";

/** kafkajs' errors as far as they are looked at. */
interface ProtocolFailure extends Error {
  readonly type?: string;
}

/** The coordinator waits for this member to give its partitions up: they are its own until then. */
const rebalanceTypes: ReadonlySet<string> = new Set(["REBALANCE_IN_PROGRESS"]);
/** The coordinator has gone on without this member. */
const lostTypes: ReadonlySet<string> = new Set(["ILLEGAL_GENERATION", "UNKNOWN_MEMBER_ID", "FENCED_INSTANCE_ID"]);

/**
 * Waits for `work`, and beats meanwhile: a slow handler must not cost the membership. When a beat is answered with a rebalance, `giveUp`
 * is called and awaited too. Returns the error that kafkajs must see in order to join again, or null. Once `over` is aborted, nothing is
 * waited for any more: a handler that never resolves would keep the beats going, and the process alive.
 */
export async function keepBeating(
  work: Promise<void>,
  heartbeat: () => Promise<void>,
  intervalMs: number,
  giveUp: (how: "revoked" | "lost") => Promise<void>,
  over: AbortSignal,
): Promise<Error | null> {
  let rebalance: Error | null = null;
  let givenUp: Promise<void> = Promise.resolve();
  const beat = async (): Promise<void> => {
    try {
      await heartbeat();
    } catch (error) {
      const { type = "" } = error as ProtocolFailure;
      // Other failures are left to kafkajs' own next beat: leaving now would run the rest of the batch twice at the same time.
      if (rebalance === null && (rebalanceTypes.has(type) || lostTypes.has(type))) {
        rebalance = error as Error; // kafkajs rejects with errors
        givenUp = giveUp(lostTypes.has(type) ? "lost" : "revoked");
      }
    }
  };
  // kafkajs sends no more than one beat an interval, however often it is asked.
  const timer = setInterval(() => void beat(), Math.max(1, Math.floor(intervalMs / 3)));
  try {
    await untilAborted(
      work.then(() => givenUp),
      over,
    );
  } finally {
    clearInterval(timer);
  }
  return rebalance;
}
