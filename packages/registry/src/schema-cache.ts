import type { RegisteredSchema, SchemaId } from "@cdckit/decode";

export interface SchemaCacheBounds {
  readonly maxSchemas: number;
  readonly maxBytes: number;
}

interface Entry {
  readonly schema: RegisteredSchema;
  readonly bytes: number;
  usedAt: number;
}

/**
 * The cached schemas, bounded by number and by bytes. The least recently used schema is dropped first. The schema of an id never changes, so
 * nothing expires.
 */
export class SchemaCache {
  readonly #entries = new Map<SchemaId, Entry>();
  readonly #bounds: SchemaCacheBounds;
  #bytes = 0;
  #uses = 0;

  constructor(bounds: SchemaCacheBounds) {
    this.#bounds = bounds;
  }

  get size(): number {
    return this.#entries.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  // Called once for each record, so a use writes one counter. The oldest is searched for when a schema comes over the network.
  get(id: SchemaId): RegisteredSchema | undefined {
    const entry = this.#entries.get(id);
    if (entry === undefined) {
      return undefined;
    }
    entry.usedAt = ++this.#uses;
    return entry.schema;
  }

  /** Caches a schema, and drops others until the bounds hold. A schema that is larger than the bound is not cached. */
  set(schema: RegisteredSchema): void {
    this.#remove(schema.id);
    const bytes = schemaBytes(schema);
    if (bytes > this.#bounds.maxBytes) {
      return;
    }
    while (this.#entries.size >= this.#bounds.maxSchemas || this.#bytes + bytes > this.#bounds.maxBytes) {
      this.#remove(this.#minRecentlyUsed());
    }
    this.#entries.set(schema.id, { schema, bytes, usedAt: ++this.#uses });
    this.#bytes += bytes;
  }

  #minRecentlyUsed(): SchemaId {
    let oldest: SchemaId = "";
    let oldestUse = Number.POSITIVE_INFINITY;
    for (const [id, entry] of this.#entries) {
      if (entry.usedAt < oldestUse) {
        oldest = id;
        oldestUse = entry.usedAt;
      }
    }
    return oldest;
  }

  #remove(id: SchemaId): void {
    const entry = this.#entries.get(id);
    if (entry !== undefined) {
      this.#entries.delete(id);
      this.#bytes -= entry.bytes;
    }
  }
}

/** The size of a schema: the UTF-8 bytes of its text, of its references and of their names. */
export function schemaBytes(schema: RegisteredSchema): number {
  let bytes = Buffer.byteLength(schema.schema);
  for (const reference of schema.references ?? []) {
    bytes += Buffer.byteLength(reference.name) + Buffer.byteLength(reference.schema);
  }
  return bytes;
}
