import { untilAborted } from "./bounded.ts";

/** kafkajs' errors as far as they are looked at. */
interface ProtocolFailure extends Error {
  readonly type?: string;
}

/** The coordinator has gone on without this member. */
const lostTypes: ReadonlySet<string> = new Set(["ILLEGAL_GENERATION", "UNKNOWN_MEMBER_ID", "FENCED_INSTANCE_ID"]);
/** The coordinator waits for this member to join again, and keeps its session until then. */
const rebalanceType = "REBALANCE_IN_PROGRESS";

/**
 * Whether a commit was refused because the partitions are not this member's any more. A commit is taken while a rebalance is prepared; one
 * that is refused with it comes from a generation whose partitions are given out anew.
 */
export function isRefusal(error: unknown): error is Error {
  const { type = "" } = error as ProtocolFailure;
  return lostTypes.has(type) || type === rebalanceType;
}

/** What a beat may be answered with while a rebalance is under way. */
export interface BeatAnswers {
  /** The member is not in the group any more. */
  readonly lost: () => void;
  /** The group still waits for the member: its session goes on. */
  readonly kept: () => void;
}

/**
 * Waits for `work`, and beats meanwhile: what is handled before the group is joined again must not cost the membership. That a rebalance is
 * under way is no news, but keeps the member's session. Once `over` is aborted, nothing
 * is waited for any more: a handler that never resolves would keep the beats going, and the process alive.
 */
export async function keepBeating(
  work: Promise<void>,
  heartbeat: () => Promise<void>,
  intervalMs: number,
  { lost, kept }: BeatAnswers,
  over: AbortSignal,
): Promise<void> {
  const beat = async (): Promise<void> => {
    try {
      await heartbeat();
    } catch (error) {
      const { type = "" } = error as ProtocolFailure;
      if (lostTypes.has(type)) {
        lost();
      } else if (type === rebalanceType) {
        kept();
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
