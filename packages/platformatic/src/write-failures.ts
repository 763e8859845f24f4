import { refusedResource, WriteFailures } from "@cdckit/driver";
import { makeError } from "./errors.ts";
import { isMisread, isUnanswered, reasonOf } from "./explain-failure.ts";
import { codes, codesOf } from "./low-level-client.ts";

/** The group has removed the member, or another one has its place. */
export const fencedCodes: ReadonlySet<number> = new Set([codes.illegalGeneration, codes.unknownMember, codes.fencedInstance]);

/** Why records could not be written through the client. */
export const writeFailures: WriteFailures = new WriteFailures({
  makeError,
  reasonOf,
  isUnreachable: (error) => isUnanswered(error) && !isMisread(error),
  refusedIn: (error) => refusedResource(codesOf(error)),
  isFenced: (error) => codesOf(error).some((code) => fencedCodes.has(code)),
});
