import { refusedResource, WriteFailures } from "@cdckit/driver";
import { makeError } from "./errors.ts";
import { type ClientError, codes } from "./low-level-client.ts";

/** The group does not know the member any more. A generation that has passed is no such answer: see `commit-requests.ts`. */
export const fencedCodes: ReadonlySet<unknown> = new Set([codes.unknownMember, codes.fencedInstance]);

const unreachableCodes: ReadonlySet<unknown> = new Set([
  codes.transport,
  codes.resolve,
  codes.allBrokersDown,
  codes.timedOut,
  codes.messageTimedOut,
]);

/** Whether no broker was there to answer. */
export function isUnanswered(error: unknown): boolean {
  return unreachableCodes.has(codeOf(error));
}

/** Why records could not be written through the client. */
export const writeFailures: WriteFailures = new WriteFailures({
  makeError,
  reasonOf: (error) => (error as Partial<ClientError> | null)?.message ?? String(error),
  isUnreachable: isUnanswered,
  refusedIn: (error) => refusedResource([codeOf(error)]),
  isFenced: (error) => fencedCodes.has(codeOf(error)),
});

function codeOf(error: unknown): unknown {
  return (error as Partial<ClientError> | null)?.code;
}
