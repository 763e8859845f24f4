import type { RegisteredSchema, SchemaId, SchemaReference } from "@cdckit/decode";
import { isRegistryError, RegistryError } from "./errors.ts";
import { quoted } from "./quoted.ts";
import type { ReferencePlace, UnresolvedSchema } from "./schema-answer.ts";

export interface ReferenceBounds {
  readonly maxReferences: number;
  /** Largest size of a schema together with everything that it refers to. */
  readonly maxBytes: number;
}

export type FetchVersion<Place extends ReferencePlace> = (link: Place) => Promise<UnresolvedSchema<Place>>;

/**
 * Fetches everything that a schema refers to, directly or through others. Each name is fetched once, and comes before those that refer to
 * it. Two schemas may mean two versions by one name (`order` refers to `money` 2 and to `item`, and `item` to `money` 1). The first one on the
 * way counts for all of them, as in the registries, which check and store the schema so: no schema may define a name twice. Fails at the
 * limits, and at a circle, before it fetches more.
 */
export async function resolveReferences<Place extends ReferencePlace>(
  id: SchemaId,
  root: UnresolvedSchema<Place>,
  bounds: ReferenceBounds,
  fetchVersion: FetchVersion<Place>,
): Promise<RegisteredSchema> {
  const walk = new ReferenceWalk(id, bounds, fetchVersion);
  walk.addSize(root.schema);
  await walk.follow(root.references, []);
  const { schema, schemaType } = root;
  return Object.freeze({
    id,
    schemaType,
    schema,
    ...(walk.resolved.length === 0 ? {} : { references: Object.freeze(walk.resolved) }),
    ...(root.hasRuleSet === true ? { hasRuleSet: true } : {}),
  });
}

class ReferenceWalk<Place extends ReferencePlace> {
  readonly resolved: SchemaReference[] = [];
  readonly #id: SchemaId;
  readonly #bounds: ReferenceBounds;
  readonly #fetchVersion: FetchVersion<Place>;
  readonly #names = new Set<string>();
  #bytes = 0;

  constructor(id: SchemaId, bounds: ReferenceBounds, fetchVersion: FetchVersion<Place>) {
    this.#id = id;
    this.#bounds = bounds;
    this.#fetchVersion = fetchVersion;
  }

  async follow(links: readonly Place[], path: readonly string[]): Promise<void> {
    if (this.#names.size + links.length > this.#bounds.maxReferences) {
      // Counted before the first of them is fetched. Some may repeat, but a schema with so many is refused without a request.
      this.#checkCount(links);
    }
    for (const link of links) {
      await this.#resolve(link, path);
    }
  }

  addSize(text: string): void {
    this.#bytes += Buffer.byteLength(text);
    if (this.#bytes > this.#bounds.maxBytes) {
      throw this.#refused(`is larger than ${this.#bounds.maxBytes} bytes with its references (maxBodyBytes)`);
    }
  }

  async #resolve(link: Place, path: readonly string[]): Promise<void> {
    const place = `${quoted(link.subject)} version ${link.version}`;
    if (path.includes(place)) {
      throw this.#refused(`refers to itself in a circle (${[...path, place].join(", then ")})`);
    }
    if (this.#names.has(link.name)) {
      return;
    }
    this.#names.add(link.name);
    const found = await this.#fetchReferred(link);
    this.addSize(found.schema);
    this.addSize(link.name);
    await this.follow(found.references, [...path, place]);
    this.resolved.push(Object.freeze({ name: link.name, schema: found.schema }));
  }

  /** A missing reference does not mean that the schema which refers to it is missing. */
  async #fetchReferred(link: Place): Promise<UnresolvedSchema<Place>> {
    try {
      return await this.#fetchVersion(link);
    } catch (error) {
      throw isRegistryError(error)
        ? new RegistryError(error.code, error.detail, { ...error, isCertain: false, cause: error.cause })
        : error;
    }
  }

  #checkCount(links: readonly Place[]): void {
    const all = new Set([...this.#names, ...links.map(({ name }) => name)]);
    if (all.size > this.#bounds.maxReferences) {
      throw this.#refused(`refers to more than ${this.#bounds.maxReferences} other schemas (maxReferences)`);
    }
  }

  #refused(what: string): RegistryError {
    return new RegistryError("refused", `schema id ${this.#id} ${what}: correct it in the registry, or raise the limit`, { id: this.#id });
  }
}
