import { untilAborted } from "@cdckit/driver";

/** The part of kafkajs' errors that is used here. */
interface ProtocolFailure extends Error {
  readonly type?: string;
}

/** Errors of a coordinator that has removed this member from the group. */
const lostTypes: ReadonlySet<string> = new Set(["ILLEGAL_GENERATION", "UNKNOWN_MEMBER_ID", "FENCED_INSTANCE_ID"]);
/** The error of a coordinator that waits for this member to join again. It keeps the member's session until then. */
const rebalanceType = "REBALANCE_IN_PROGRESS";

/**
 * Whether a commit was refused because the partitions are not this member's any more. The coordinator accepts commits while it prepares a
 * rebalance. If it refuses one with "rebalance in progress", the partitions of that generation are being assigned again.
 */
export function isRefusal(error: unknown): error is Error {
  const { type = "" } = error as ProtocolFailure;
  return lostTypes.has(type) || type === rebalanceType;
}

/** The answers to heartbeats during a rebalance. */
export interface BeatAnswers {
  /** The member is not in the group any more. */
  readonly lost: () => void;
  /** The group still waits for the member, and its session goes on. */
  readonly kept: () => void;
}

/**
 * Waits for `work`, and sends heartbeats meanwhile, so that the member is not removed from the group while it finishes its work. The answer
 * "rebalance in progress" is expected, and keeps the session. After `over` is aborted, nothing is waited for: a handler that never resolves
 * would keep the heartbeats going, and the process alive.
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
      } // kafkajs' own next request deals with other failures
    }
  };
  // kafkajs sends at most one heartbeat for each interval, however often it is asked.
  const timer = setInterval(() => void beat(), Math.max(1, Math.floor(intervalMs / 3)));
  try {
    await untilAborted(work, over);
  } finally {
    clearInterval(timer);
  }
}
