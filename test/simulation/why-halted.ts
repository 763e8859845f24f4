import { isConsumerError } from "@cdckit/consumer";
import { isDecodeError } from "@cdckit/decode";
import type { Oracle } from "./oracle.ts";
import type { Plan } from "./plan.ts";

export interface HaltedMember {
  readonly plan: Plan;
  readonly oracle: Oracle;
  /** What was disturbed may still fail. */
  readonly isLingering: boolean;
}

/**
 * What a consumer halted with, where it had to and would again; `"again"` where a new one may do better, `"stopped"` where it was to stop;
 * null where it must not have halted.
 */
export function whyHalted(error: Error, { plan, oracle, isLingering }: HaltedMember): string | null {
  const { failure } = plan;
  const code = (error as { code?: string }).code ?? error.name;
  switch (code) {
    case "fault":
    case "fenced":
    case "dead-letter-failed":
      return isLingering ? "again" : null;
    case "sink-failed":
      // A transaction of pipe() that fails again and again is to blame on no record; what makes the records of it may still be.
      if (plan.reads === "pipe" && isLingering && (error.cause as { code?: string } | undefined)?.code === "transaction-failed") {
        return "again";
      }
      break;
    case "work-abandoned":
      return "stopped";
    case "offset-out-of-range":
    case "topic-recreated":
      return failure.lostRange === "halt" && oracle.losses.isTrue(error) ? code : null;
    case "failures-systemic":
      return failure.breaker !== false || failure.maxParkedKeys !== undefined ? code : null;
  }
  return failure.poison === "halt" && isToBlame(error, oracle) ? code : null;
}

/** A record that is poison stands where it halted. */
function isToBlame(error: Error, oracle: Oracle): boolean {
  const at = isConsumerError(error) || isDecodeError(error) ? error.at : undefined;
  return at !== undefined && oracle.hasPoisonFrom(at.partition, at.offset);
}
