import { refusedResource, WriteFailures } from "@cdckit/driver";
import { makeError } from "./errors.ts";
import { type ClientError, codes } from "./low-level-client.ts";

/** The group does not know the member any more. A generation that has passed is no such answer: see `commit-requests.ts`. */
export const fencedCodes: ReadonlySet<unknown> = new Set([codes.unknownMember, codes.fencedInstance]);

/** Why records could not be written through the client. */
export const writeFailures: WriteFailures = new WriteFailures({
  makeError,
  reasonOf: (error) => (error as Partial<ClientError> | null)?.message ?? String(error),
  refusedIn: (error) => refusedResource([codeOf(error)]),
  isFenced: (error) => fencedCodes.has(codeOf(error)),
});

function codeOf(error: unknown): unknown {
  return (error as Partial<ClientError> | null)?.code;
}
