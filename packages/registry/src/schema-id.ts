import type { SchemaId } from "@cdckit/decode";
import { RegistryError } from "./errors.ts";
import { quoted } from "./quoted.ts";

const guid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether an id is a number as the Confluent API gives them. */
export function isNumericId(id: unknown): id is number {
  return Number.isSafeInteger(id) && (id as number) >= 0;
}

/** Whether an id is a GUID, by which the Confluent API names a schema independently of the registry that holds it. */
export function isGuid(id: SchemaId): id is string {
  return typeof id === "string" && guid.test(id);
}

export function unusableId(id: SchemaId, expected: string): RegistryError {
  return new RegistryError("refused", `there are no schema ids of this kind here: expected ${expected}, found ${quoted(String(id))}`, {
    id,
  });
}
