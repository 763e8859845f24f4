import { untilAborted } from "./bounded.ts";

/** kafkajs' errors as far as they are looked at. */
interface ProtocolFailure extends Error {
  readonly type?: string;
}

/** The coordinator has gone on without this member. */
const lostTypes: ReadonlySet<string> = new Set(["ILLEGAL_GENERATION", "UNKNOWN_MEMBER_ID", "FENCED_INSTANCE_ID"]);

/**
 * Waits for `work`, and beats meanwhile: what is handled before the group is joined again must not cost the membership. That a rebalance is
 * under way is no news; `lost` is called when a beat is answered that the member is not in the group any more. Once `over` is aborted, nothing
 * is waited for any more: a handler that never resolves would keep the beats going, and the process alive.
 */
export async function keepBeating(
  work: Promise<void>,
  heartbeat: () => Promise<void>,
  intervalMs: number,
  lost: () => void,
  over: AbortSignal,
): Promise<void> {
  const beat = async (): Promise<void> => {
    try {
      await heartbeat();
    } catch (error) {
      if (lostTypes.has((error as ProtocolFailure).type ?? "")) {
        lost();
      } // other failures are left to kafkajs' own next request
    }
  };
  // kafkajs sends no more than one beat an interval, however often it is asked.
  const timer = setInterval(() => void beat(), Math.max(1, Math.floor(intervalMs / 3)));
  try {
    await untilAborted(work, over);
  } finally {
    clearInterval(timer);
  }
}
