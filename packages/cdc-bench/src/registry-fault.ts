import type { DecodeErrorCode } from "@cdckit/decode";
import { BenchError } from "./bench-error.ts";

/** What to look at if a registry does not answer, or is none. */
export const registryAdvice = "check --registry: host, port and path (Apicurio's ends in /apis/ccompat/v7), and that it runs";

/** A registry that restarts is back by then. */
const maxRegistryAwayMs = 30_000;

/** The codes that say nothing about a record's bytes: the registry could not be asked, or refused. */
const registryCodes: ReadonlySet<DecodeErrorCode> = new Set<DecodeErrorCode>(["schema-unavailable", "schema-refused"]);

/** Whether it is not the record that is wrong but the way to its schema. */
export function isRegistryAtFault(error: { readonly code: DecodeErrorCode }): boolean {
  return registryCodes.has(error.code);
}

/** What ends a reading whose registry stays away, as the consumer itself would wait for ever. Null as long as it may come back. */
export function longAbsenceOf(awayMs: number): BenchError | null {
  return awayMs > maxRegistryAwayMs
    ? new BenchError(
        "connection",
        `records wait for their schemas, and the registry has given none for ${maxRegistryAwayMs / 1e3} s: ${registryAdvice}.`,
      )
    : null;
}
