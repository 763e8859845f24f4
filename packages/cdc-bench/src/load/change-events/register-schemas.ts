import { BenchError } from "../../bench-error.ts";
import type { RegistryConnection } from "../connection.ts";
import type { ChangeFormat, SchemaIds } from "./change-format.ts";
import type { ChangeSource } from "./change-stream.ts";
import { askRegistry } from "./subjects.ts";

/**
 * Registers what messages of the format refer to, and gives the ids; null if they refer to nothing. The registry speaks Confluent's API.
 * Fails with a sentence if it cannot be reached or refuses.
 */
export async function registerSchemas(
  format: ChangeFormat,
  source: ChangeSource,
  topic: string,
  registry: RegistryConnection | undefined,
): Promise<SchemaIds | null> {
  const needed = format.schemas(source);
  if (needed.length === 0) {
    return null;
  }
  if (registry === undefined) {
    throw new BenchError("usage", `${format.name} refers to registered schemas: give --registry URL.`);
  }
  const ids: Record<string, number> = {};
  for (const { part, schemaType, schema } of needed) {
    ids[part] = await register(registry, `${topic}-${part}`, { schemaType, schema });
  }
  return { key: ids["key"] as number, value: ids["value"] as number }; // every format that needs schemas needs both
}

async function register(registry: RegistryConnection, subject: string, schema: object): Promise<number> {
  const answer = await askRegistry(registry, `subjects/${encodeURIComponent(subject)}/versions`, {
    method: "POST",
    body: JSON.stringify(schema),
  });
  const id = (answer as { readonly id?: unknown } | null)?.id;
  if (typeof id !== "number") {
    throw new BenchError("connection", `the registry gave no id for ${subject}: is it one with Confluent's API?`);
  }
  return id;
}
