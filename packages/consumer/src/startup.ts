import type { Clock } from "./clock.ts";
import { settledWithin } from "./deadline.ts";
import type { OpenWait } from "./observe/waits.ts";
import { codeOf } from "./user-code/user-value.ts";

/** What a start does when no broker can be reached. */
export type Startup = "fail" | "wait";

export interface ConnectParts<Session> {
  readonly connect: () => Promise<Session>;
  readonly startup: Startup;
  readonly clock: Clock;
  readonly random: () => number;
  /** Told of each attempt that failed. */
  readonly waiting: OpenWait;
  /** Resolves when nobody waits for the connection any more. */
  readonly over: Promise<void>;
}

const firstGapMs = 1_000;
const maxGapMs = 30_000;

/**
 * The session, at the first attempt; or, with `startup: "wait"`, once brokers can be reached. Null where nobody waits for it any more. What
 * else fails is an error with either: a topic that is missing or a refused login would not be cured by waiting.
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
    // With some jitter: whoever is restarted together must not ask together.
    if (await settledWithin(over, gapMs * (0.75 + random() / 2), clock)) {
      return null;
    }
  }
}

function areBrokersAway(error: unknown): boolean {
  return codeOf(error) === "brokers-unreachable";
}
