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
 * The schemas at hand, bounded by number and by bytes; what was used longest ago goes first. What an id means never changes, so nothing
 * expires.
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

  // Asked once a record: a use is one counter written, and the search for the oldest is paid where a schema comes over the network.
  get(id: SchemaId): RegisteredSchema | undefined {
    const entry = this.#entries.get(id);
    if (entry === undefined) {
      return undefined;
    }
    entry.usedAt = ++this.#uses;
    return entry.schema;
  }

  /** Keeps a schema, and lets go of others until the bounds hold. One that is larger than the bound is not kept. */
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

/** What a schema weighs: the UTF-8 bytes of its text, its references and their names. */
export function schemaBytes(schema: RegisteredSchema): number {
  let bytes = Buffer.byteLength(schema.schema);
  for (const reference of schema.references ?? []) {
    bytes += Buffer.byteLength(reference.name) + Buffer.byteLength(reference.schema);
  }
  return bytes;
}
