import type { ApicurioIdSpace, SchemaId } from "@cdckit/decode";
import { RegistryError } from "./errors.ts";
import { quoted } from "./quoted.ts";

const guid = /^(?:guid:)?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;
const apicurioId = /^(contentId|globalId):([0-9]{1,19})$/;

/** Whether an id is a number of the Confluent API. */
export function isNumericId(id: unknown): id is number {
  return Number.isSafeInteger(id) && (id as number) >= 0;
}

/** The GUID of an id that is one: the Confluent API's name for a schema in any registry. Null for any other id. */
export function guidOf(id: SchemaId): string | null {
  return typeof id === "string" ? (guid.exec(id)?.[1] ?? null) : null;
}

/** The number of an id that says which of Apicurio's number spaces it is of; null for any other id. */
export function apicurioIdOf(id: SchemaId): { readonly space: ApicurioIdSpace; readonly number: string } | null {
  const [, space, number] = typeof id === "string" ? (apicurioId.exec(id) ?? []) : [];
  return space === undefined || number === undefined ? null : { space: space as ApicurioIdSpace, number };
}

const kinds: ReadonlyMap<string, string> = new Map([
  ["guid", "a GUID of Confluent's registry"],
  ["contentId", "a content id of Apicurio"],
  ["globalId", "a global id of Apicurio"],
  ["contentHash", "a content hash of Apicurio"],
  ["artifact", "an artifact of Apicurio"],
  ["glue", "a schema version of AWS Glue"],
  ["azure", "a schema of Azure Schema Registry"],
  ["buf", "a commit of the Buf Schema Registry"],
  ["fingerprint", "an Avro fingerprint"],
]);

/**
 * The error for an id of a kind that this source does not have. If the kind exists, the error is "not found": the bytes may not name a schema
 * at all, and detection then tries other formats. No message can carry any other id.
 */
export function unusableId(id: SchemaId, expected: string): RegistryError {
  const kind = typeof id === "string" ? kinds.get(id.split(":", 1)[0] ?? "") : undefined;
  const detail = `this source has no schema ids of this kind: expected ${expected}, found ${quoted(String(id))}`;
  if (kind === undefined) {
    return new RegistryError("refused", detail, { id });
  }
  const bundle = "put the schema under this id into a bundle (fromBundle), or pass a SchemaSource of your own that knows it";
  const ofApicurio = "set url to the Apicurio registry that the producer wrote to, with its path: http://localhost:8080/apis/registry/v3";
  const advice = kind.endsWith("Apicurio") ? `${ofApicurio}, or ${bundle}` : bundle;
  return new RegistryError("not-found", `${detail}, ${kind}: ${advice}`, { id });
}
