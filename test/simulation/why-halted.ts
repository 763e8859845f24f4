import { isConsumerError, type LostRange } from "@cdckit/consumer";
import { isDecodeError } from "@cdckit/decode";
import type { MemoryBroker } from "@cdckit/testkit";
import type { Oracle } from "./oracle.ts";
import type { Plan } from "./plan.ts";

export interface HaltedMember {
  readonly plan: Plan;
  readonly oracle: Oracle;
  readonly broker: MemoryBroker;
  /** What was disturbed may still fail. */
  readonly isLingering: boolean;
}

/**
 * What a consumer halted with, where it had to and would again; `"again"` where a new one may do better, `"stopped"` where it was to stop;
 * null where it must not have halted.
 */
export function whyHalted(error: Error, { plan, oracle, broker, isLingering }: HaltedMember): string | null {
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
      return failure.lostRange === "halt" && isLost(error, broker) ? code : null;
    case "topic-recreated":
      return failure.lostRange === "halt" && isRecreated(error, broker) ? code : null;
    case "failures-systemic":
      return failure.breaker !== false || failure.maxParkedKeys !== undefined ? code : null;
  }
  return failure.poison === "halt" && isToBlame(error, oracle) ? code : null;
}

/** What is said to be gone is what is gone. */
function isLost(error: Error, broker: MemoryBroker): boolean {
  const { lost } = error as { lost?: { partition: number; firstMissing: bigint; firstAvailable: bigint } };
  if (lost === undefined) {
    return false;
  }
  const { start } = broker.log("t", lost.partition);
  return lost.firstAvailable === start && lost.firstMissing < start;
}

/** The topic that is told of is the one that there is. */
function isRecreated(error: Error, broker: MemoryBroker): boolean {
  const { recreated } = (error as { lost?: LostRange }).lost ?? {};
  return recreated !== undefined && recreated.to === broker.topicId("t") && recreated.from !== recreated.to;
}

/** A record that is poison stands where it halted. */
function isToBlame(error: Error, oracle: Oracle): boolean {
  const at = isConsumerError(error) || isDecodeError(error) ? error.at : undefined;
  return at !== undefined && oracle.hasPoisonFrom(at.partition, at.offset);
}
