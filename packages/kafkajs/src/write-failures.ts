import { WriteFailures } from "@cdckit/driver";
import { isOfCertificate } from "./certificate-fault.ts";
import { makeError } from "./errors.ts";
import { causesOf, isConnectionFailure, refusedIn } from "./explain-failure.ts";

/** The brokers' answers to a producer whose transactional id another producer has taken over. */
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
  reasonOf: (error) => (error instanceof Error ? error.message : String(error)),
  isFenced: (error) => fencedTypes.has((error as { readonly type?: unknown } | null)?.type),
});
