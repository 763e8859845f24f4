import type { SchemaId } from "@cdckit/decode";
import type { RegistryClock } from "./clock.ts";
import type { RegistryError } from "./errors.ts";

export interface MissingIdsOptions {
  readonly maxIds: number;
  readonly ttlMs: number;
  readonly clock: RegistryClock;
  readonly random: () => number;
}

interface Missing {
  readonly error: RegistryError;
  readonly untilMs: number;
}

/**
 * The ids that the registry has just said it does not have. They are believed for a short while, so that a stream of records with such
 * an id costs one request a while, and a schema that appears late is still found.
 */
export class MissingIds {
  readonly #missing = new Map<SchemaId, Missing>();
  readonly #options: MissingIdsOptions;

  constructor(options: MissingIdsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#missing.size;
  }

  get(id: SchemaId): RegistryError | undefined {
    const missing = this.#missing.get(id);
    if (missing === undefined || this.#options.clock.nowMs() < missing.untilMs) {
      return missing?.error;
    }
    this.#missing.delete(id);
    return undefined;
  }

  add(id: SchemaId, error: RegistryError): void {
    const { maxIds, ttlMs, clock, random } = this.#options;
    if (this.#missing.size >= maxIds) {
      const [first] = this.#missing.keys();
      this.#missing.delete(first as SchemaId); // the map is not empty: maxIds is at least 1
    }
    // Up to a quarter longer, never shorter: consumers that started together must not come back together.
    const untilMs = clock.nowMs() + ttlMs * (1 + random() / 4);
    this.#missing.set(id, { error, untilMs });
  }
}
