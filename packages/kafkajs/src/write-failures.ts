import type { OutgoingRecord } from "@cdckit/consumer";
import { topicsText, WriteFailures } from "@cdckit/driver";
import { isOfCertificate } from "./certificate-fault.ts";
import { makeError } from "./errors.ts";
import { causesOf, coordinatorNotFound, isConnectionFailure, refusedIn } from "./explain-failure.ts";
import { writeDeadlineMs } from "./own-producer.ts";

/** The brokers' answers to a producer whose transactional id another producer has taken over, or whose transaction they have ended by their clock. */
const fencedTypes: ReadonlySet<unknown> = new Set(["INVALID_PRODUCER_EPOCH", "PRODUCER_FENCED"]);

/** Why records could not be written through kafkajs. */
export const writeFailures: WriteFailures = new WriteFailures({
  makeError,
  refusedIn,
  isUnreachable: (error) => {
    const chain = causesOf(error);
    // kafkajs writes to no partition of a topic while one of them has no leader. Then the broker that has its replica is away.
    return (isConnectionFailure(error) && !isOfCertificate(chain)) || chain.some(({ type }) => type === "LEADER_NOT_AVAILABLE");
  },
  reasonOf,
  isFenced,
});

/** The same error, or a `fenced` one that names both of its causes: the brokers do not say which it was. */
export function asFenced(error: unknown, records: readonly OutgoingRecord[]): unknown {
  const detail = `another producer writes for this partition now, or the brokers have ended its transaction, which took longer than ${writeDeadlineMs} ms; nothing was written to ${topicsText(records)}`;
  return isFenced(error) ? makeError("fenced", detail, { cause: error }) : error;
}

function isFenced(error: unknown): boolean {
  return fencedTypes.has((error as { readonly type?: unknown } | null)?.type);
}

/** What kafkajs says, or what it does not say of brokers that can have no transactions. */
function reasonOf(error: unknown): string {
  const chain = causesOf(error);
  if (chain.some(({ name }) => name === coordinatorNotFound)) {
    return "no broker has said which of them coordinates it. Are there as many brokers as their transaction.state.log.replication.factor (3 by default)?";
  }
  if (chain.some(({ type }) => type === "INVALID_TRANSACTION_TIMEOUT")) {
    return `the brokers allow no transaction as long as ${writeDeadlineMs} ms: set their transaction.max.timeout.ms to that or more`;
  }
  return error instanceof Error ? error.message : String(error);
}
