import type { SchemaSource } from "@cdckit/decode";
import { createRegistry, fromBundle, isRegistryError, type Registry } from "@cdckit/registry";
import { BenchError } from "../bench-error.ts";
import { registryAdvice } from "../registry-fault.ts";
import type { RegistryConnection } from "./connection.ts";
import type { Source } from "./source.ts";

/** Answers messages that name a schema if no source of schemas was named. */
export const missingSchemasHint =
  "some messages name a schema, and there is no place to get it from: give --registry URL, or --schemas FILE with --file.";

/** Whether a message named a schema, and no source of schemas was named: the decoder says so only if it was made without one. */
export function lacksSchemaSource({ code }: { readonly code: string }): boolean {
  return code === "schema-source-missing";
}

/** The line to end a command with, by the errors that it has met. Empty if none of them lacks a source of schemas. */
export function missingSchemasNote(errors: readonly { readonly code: string }[]): string {
  return errors.some(lacksSchemaSource) ? `${missingSchemasHint}\n` : "";
}

/** Where the schemas of a source are, or undefined if none was named: JSON needs none. */
export function openSchemas(source: Source): SchemaSource | undefined {
  if (source.kind === "file" && source.schemasFile !== undefined) {
    return bundleOf(source.schemasFile);
  }
  return source.registry === undefined ? undefined : openRegistry(source.registry);
}

/**
 * Asks the registry of a source whether it is one, before anything is read: a consumer waits for a registry that is away, and this command would,
 * too. A 403 is no refusal of schemas by id, which may be allowed all the same.
 */
export async function requireRegistry(connection: RegistryConnection | undefined): Promise<void> {
  if (connection === undefined) {
    return;
  }
  const registry = openRegistry(connection);
  try {
    const refusal = (await registry.ping()).find(({ ok, status }) => !ok && status !== 403);
    if (refusal !== undefined) {
      throw new BenchError("connection", `the registry cannot be used: ${refusal.detail}; ${registryAdvice}.`);
    }
  } finally {
    await registry.close();
  }
}

/** A registry, not asked yet. Settings that it cannot use are a usage error. */
export function openRegistry(connection: RegistryConnection): Registry {
  try {
    return createRegistry(connection);
  } catch (error) {
    if (!(error instanceof TypeError)) {
      throw error;
    }
    throw new BenchError("usage", `the registry's settings cannot be used: ${error.message}.`, { cause: error });
  }
}

function bundleOf(file: string): SchemaSource {
  try {
    return fromBundle(file);
  } catch (error) {
    if (!isRegistryError(error)) {
      throw error;
    }
    throw new BenchError("usage", `${error.detail}.`, { cause: error });
  }
}
