import { WriteFailures } from "@cdckit/driver";
import { makeError } from "./errors.ts";
import { isConnectionFailure, refusedIn } from "./explain-failure.ts";

/** The brokers' answers to a producer whose transactional id another producer has taken over. */
const fencedTypes: ReadonlySet<unknown> = new Set(["INVALID_PRODUCER_EPOCH", "PRODUCER_FENCED"]);

/** Why records could not be written through kafkajs. */
export const writeFailures: WriteFailures = new WriteFailures({
  makeError,
  refusedIn,
  isUnreachable: isConnectionFailure,
  reasonOf: (error) => (error instanceof Error ? error.message : String(error)),
  isFenced: (error) => fencedTypes.has((error as { readonly type?: unknown } | null)?.type),
});
