import type { RegisteredSchema, SchemaId, SchemaSource } from "@cdckit/decode";
import type { RegistryClock } from "./clock.ts";
import { isRegistryError } from "./errors.ts";
import { MissingIds } from "./missing-ids.ts";
import type { SchemaCacheOptions } from "./options.ts";
import { SchemaCache } from "./schema-cache.ts";
import { SingleFlight } from "./single-flight.ts";
import { bindMethods } from "./bind-methods.ts";

export interface CachingSourceOptions {
  readonly cache: Readonly<Required<SchemaCacheOptions>>;
  readonly clock: RegistryClock;
  readonly random: () => number;
  readonly fetchSchema: (id: SchemaId) => Promise<RegisteredSchema>;
}

/** Caches schemas, fetches an id once for any number of waiters, and remembers for a while which ids the registry does not have. */
export class CachingSource implements SchemaSource {
  readonly #schemas: SchemaCache;
  readonly #missing: MissingIds;
  readonly #flights = new SingleFlight<SchemaId, RegisteredSchema>();
  readonly #fetchSchema: (id: SchemaId) => Promise<RegisteredSchema>;

  constructor({ cache, clock, random, fetchSchema }: CachingSourceOptions) {
    this.#schemas = new SchemaCache(cache);
    this.#missing = new MissingIds({ maxIds: cache.maxSchemas, ttlMs: cache.notFoundTtlMs, clock, random });
    this.#fetchSchema = fetchSchema;
    bindMethods(this);
  }

  get counts(): { readonly schemas: number; readonly bytes: number; readonly missing: number; readonly loading: number } {
    return { schemas: this.#schemas.size, bytes: this.#schemas.bytes, missing: this.#missing.size, loading: this.#flights.size };
  }

  peek(id: SchemaId): RegisteredSchema | undefined {
    return this.#schemas.get(id);
  }

  async load(id: SchemaId): Promise<RegisteredSchema> {
    const schema = this.#schemas.get(id);
    if (schema !== undefined) {
      return schema;
    }
    const missing = this.#missing.get(id);
    if (missing !== undefined) {
      throw missing;
    }
    return this.#flights.run(id, () => this.#fetch(id));
  }

  /** Resolves when no fetch is under way. */
  settled(): Promise<void> {
    return this.#flights.settled();
  }

  async #fetch(id: SchemaId): Promise<RegisteredSchema> {
    try {
      const schema = await this.#fetchSchema(id);
      this.#schemas.set(schema);
      return schema;
    } catch (error) {
      if (isRegistryError(error) && error.code === "not-found") {
        this.#missing.add(id, error);
      }
      throw error;
    }
  }
}
