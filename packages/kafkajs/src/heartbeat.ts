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

export interface HeartbeatsParts {
  readonly intervalMs: number;
  /** Aborted when the session is closed. */
  readonly over: AbortSignal;
  /** The member is not in the group any more. */
  readonly lost: () => void;
  /** The group still waits for the member, and its session goes on. */
  readonly kept: () => void;
}

/**
 * Sends heartbeats while kafkajs cannot, so that the member is not removed from the group: kafkajs sends them between two batches. The answer
 * "rebalance in progress" is expected, and keeps the session.
 */
export class Heartbeats {
  readonly #parts: HeartbeatsParts;
  /** Sends a heartbeat in the generation of the last batch. Undefined before the first batch: nothing is in flight then. */
  beat: (() => Promise<void>) | undefined;

  constructor(parts: HeartbeatsParts) {
    this.#parts = parts;
  }

  /**
   * The result of the work. Null if the session is closed before: then nothing is waited for, because a handler that never resolves would keep
   * the heartbeats going, and the process alive.
   */
  async during<Result>(work: Promise<Result>): Promise<Result | null> {
    const { intervalMs, over } = this.#parts;
    let result: Result | null = null;
    const done = work.then((brought) => {
      result = brought;
    });
    // kafkajs sends at most one heartbeat for each interval, however often it is asked.
    const timer = setInterval(() => void this.#beat(), Math.max(1, Math.floor(intervalMs / 3)));
    try {
      await untilAborted(done, over);
    } finally {
      clearInterval(timer);
    }
    return result;
  }

  async #beat(): Promise<void> {
    try {
      await this.beat?.();
    } catch (error) {
      const { type = "" } = error as ProtocolFailure;
      if (lostTypes.has(type)) {
        this.#parts.lost();
      } else if (type === rebalanceType) {
        this.#parts.kept();
      } // kafkajs' own next request deals with other failures
    }
  }
}
