import type { DecodeErrorCode } from "@cdckit/decode";

/** The codes that say nothing about a record's bytes: the registry could not be asked, or refused. */
const registryCodes: ReadonlySet<DecodeErrorCode> = new Set<DecodeErrorCode>(["schema-unavailable", "schema-refused"]);

/** Whether it is not the record that is wrong but the way to its schema. */
export function isRegistryAtFault(error: { readonly code: DecodeErrorCode }): boolean {
  return registryCodes.has(error.code);
}
