import type { Clock } from "./clock.ts";
import { settledWithin } from "./deadline.ts";
import type { OpenWait } from "./observe/waits.ts";
import { codeOf } from "./user-code/user-value.ts";

/** What a start does if no broker can be reached. */
export type Startup = "fail" | "wait";

export interface ConnectParts<Session> {
  readonly connect: () => Promise<Session>;
  readonly startup: Startup;
  readonly clock: Clock;
  readonly random: () => number;
  /** Called with each attempt that failed. */
  readonly waiting: OpenWait;
  /** Resolves when nobody waits for the connection any more. */
  readonly over: Promise<void>;
}

const firstGapMs = 1_000;
const maxGapMs = 30_000;

/**
 * The session, at the first attempt. With `startup: "wait"`, as soon as brokers can be reached. Null if nobody waits for it any more. Other
 * failures are an error with either: waiting does not help if a topic is missing or a login is refused.
 */
export async function connectPatiently<Session>(parts: ConnectParts<Session>): Promise<Session | null> {
  const { connect, startup, clock, random, waiting, over } = parts;
  for (let gapMs = firstGapMs; ; gapMs = Math.min(gapMs * 2, maxGapMs)) {
    try {
      return await connect();
    } catch (error) {
      if (startup === "fail" || !areBrokersAway(error)) {
        throw error;
      }
      waiting.failed(error);
    }
    // With some jitter, so that members that were restarted together do not ask together.
    if (await settledWithin(over, gapMs * (0.75 + random() / 2), clock)) {
      return null;
    }
  }
}

function areBrokersAway(error: unknown): boolean {
  return codeOf(error) === "brokers-unreachable";
}
