import type { SchemaSource } from "@cdckit/decode";
import { createRegistry, fromBundle, isRegistryError, type Registry } from "@cdckit/registry";
import { BenchError } from "../bench-error.ts";
import type { RegistryConnection } from "./connection.ts";
import type { Source } from "./source.ts";

/** Answers messages that name a schema if no source of schemas was named. */
export const missingSchemasHint =
  "some messages name a schema, and there is no place to get it from: give --registry URL, or --schemas FILE with --file.\n";

/** Where the schemas of a source are, or undefined if none was named: JSON needs none. */
export function openSchemas(source: Source): SchemaSource | undefined {
  if (source.kind === "file" && source.schemasFile !== undefined) {
    return bundleOf(source.schemasFile);
  }
  return source.registry === undefined ? undefined : openRegistry(source.registry);
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
