import { setTimeout as pass } from "node:timers/promises";

const deadlineMs = 20_000;
const askAgainMs = 150;

/**
 * What brokers answer for a moment: while a leader or a coordinator moves, or is new. kafkajs' admin takes it for final. It lists all topics, also
 * before it makes one, and fails if the brokers answer so for any of them.
 */
const passing: ReadonlySet<string> = new Set([
  "UNKNOWN_TOPIC_OR_PARTITION",
  "LEADER_NOT_AVAILABLE",
  "NOT_LEADER_FOR_PARTITION",
  "REPLICA_NOT_AVAILABLE",
  "GROUP_LOAD_IN_PROGRESS",
  "GROUP_COORDINATOR_NOT_AVAILABLE",
  "NOT_COORDINATOR_FOR_GROUP",
]);

/** kafkajs' word for a coordinator that nobody named, whatever the reason. */
export const coordinatorNotFound = "KafkaJSGroupCoordinatorNotFound";

/** kafkajs wraps an answer that it got at each of its own attempts. */
const retriesExceeded = "KafkaJSNumberOfRetriesExceeded";

/** Whether another answer may follow this code of the brokers in a moment. */
export function isPassingCode(code: string): boolean {
  return passing.has(code);
}

/** Whether it is an answer that another one may follow in a moment. What is asked for may be missing for good, too. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof Error)) {
    return false;
  }
  const { type, name, cause } = error as Error & { readonly type?: unknown };
  return (
    (typeof type === "string" && isPassingCode(type)) || name === coordinatorNotFound || (name === retriesExceeded && isPassing(cause))
  );
}

/** Asks until the answer is one that stays, or {@link deadlineMs} have passed. */
export async function untilAnswered<T>(ask: () => Promise<T>): Promise<T> {
  const untilMs = performance.now() + deadlineMs;
  while (true) {
    try {
      return await ask();
    } catch (error) {
      if (!isPassing(error) || performance.now() >= untilMs) {
        throw error;
      }
    }
    await pass(askAgainMs);
  }
}
