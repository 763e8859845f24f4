import { setMaxListeners } from "node:events";
import { inspect } from "node:util";
import type { RegisteredSchema, SchemaId, SchemaSource } from "@cdckit/decode";
import { CachingSource } from "./caching-source.ts";
import { apiFor } from "./api-for.ts";
import { RegistryError } from "./errors.ts";
import { type RegistryOptions, type ResolvedRegistryOptions, resolveRegistryOptions } from "./options.ts";
import { pingEndpoint, type RegistryPing } from "./ping.ts";
import { resolveReferences } from "./references.ts";
import type { RegistryApi, SubjectVersion } from "./registry-api.ts";
import { Transport } from "./transport.ts";
import { bindMethods } from "./bind-methods.ts";

/** A schema registry over HTTP. Rejects with a {@link RegistryError} only. */
export interface Registry extends SchemaSource {
  /** The newest version of a subject. It is not cached, because it changes. Confluent's API gives the names of its references, too; Apicurio's none. */
  latest(subject: string): Promise<SubjectVersion>;
  /** The names of all subjects. */
  subjects(): Promise<readonly string[]>;
  /** Checks whether each address answers as a schema registry. Never rejects. */
  ping(): Promise<readonly RegistryPing[]>;
  /** What the client holds and has asked, at once. */
  stats(): RegistryStats;
  /** Ends every request under way, and refuses new ones. Cached schemas can still be read. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** What a registry client holds at the moment. */
export interface RegistryStats {
  /** The addresses, without userinfo. */
  readonly urls: readonly string[];
  /** Schemas in the cache. */
  readonly cachedSchemas: number;
  /** Bytes of the texts of these schemas, references included. */
  readonly cachedBytes: number;
  /** Ids that the registry does not have, and that are not asked for again yet. */
  readonly missingIds: number;
  /** Ids that are being fetched. */
  readonly loading: number;
  /** HTTP requests that were sent so far. */
  readonly requests: number;
  /** How often a question was asked again after a pause. */
  readonly retries: number;
}

/**
 * A client of a schema registry that speaks the Confluent API (Confluent, Karapace, Redpanda, Apicurio at `/apis/ccompat/v7`) or Apicurio's
 * own (`/apis/registry/v3`).
 */
export function createRegistry(options: RegistryOptions): Registry {
  return new HttpRegistry(resolveRegistryOptions(options));
}

class HttpRegistry implements Registry {
  readonly host: string;
  readonly #options: ResolvedRegistryOptions;
  readonly #closing = new AbortController();
  readonly #transport: Transport;
  readonly #api: RegistryApi;
  readonly #source: CachingSource;

  constructor(options: ResolvedRegistryOptions) {
    this.#options = options;
    this.host = options.endpoints.map(({ url }) => url).join(", ");
    setMaxListeners(0, this.#closing.signal); // every request listens, and their number has no bound
    this.#transport = new Transport(options, this.#closing.signal);
    this.#api = apiFor(options, this.#transport);
    const { cache, clock, random } = options;
    this.#source = new CachingSource({ cache, clock, random, fetchSchema: (id) => this.#fetchSchema(id) });
    bindMethods(this);
  }

  peek(id: SchemaId): RegisteredSchema | undefined {
    return this.#source.peek(id);
  }

  load(id: SchemaId): Promise<RegisteredSchema> {
    return this.#source.load(id);
  }

  lastFailure(id: SchemaId): unknown {
    return this.#transport.lastFailure(id);
  }

  latest(subject: string): Promise<SubjectVersion> {
    return this.#api.latestVersion(subject);
  }

  subjects(): Promise<readonly string[]> {
    return this.#api.subjects();
  }

  ping(): Promise<readonly RegistryPing[]> {
    return Promise.all(this.#options.endpoints.map((endpoint) => pingEndpoint(endpoint, this.#options.dialect, this.#transport)));
  }

  stats(): RegistryStats {
    const { schemas, bytes, missing, loading } = this.#source.counts;
    const urls = this.#options.endpoints.map((endpoint) => endpoint.url);
    return { urls, cachedSchemas: schemas, cachedBytes: bytes, missingIds: missing, loading, ...this.#transport.counts };
  }

  async close(): Promise<void> {
    // "unavailable", not "refused": the record that asks is not to blame, and must not become a dead letter.
    this.#closing.abort(new RegistryError("unavailable", "the registry client was closed: create a new one to go on"));
    await this.#source.settled();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  toJSON(): RegistryStats {
    return this.stats();
  }

  [inspect.custom](): string {
    return `Registry ${inspect(this.stats())}`;
  }

  async #fetchSchema(id: SchemaId): Promise<RegisteredSchema> {
    const { maxReferences, maxBodyBytes } = this.#options;
    const root = await this.#api.schemaById(id);
    const bounds = { maxReferences, maxBytes: maxBodyBytes };
    return resolveReferences(id, root, bounds, (link) => this.#api.referencedVersion(link, id));
  }
}
