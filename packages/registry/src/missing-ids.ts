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
 * The ids that the registry does not have. They are remembered for a short time, so that a stream of records with such an id does not cost a
 * request for each record, and a schema that is registered late is still found.
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
      this.#missing.delete(first as SchemaId); // maxIds is at least 1, so the map is not empty
    }
    // Up to a quarter longer, never shorter, so that consumers that started together do not ask again together.
    const untilMs = clock.nowMs() + ttlMs * (1 + random() / 4);
    this.#missing.set(id, { error, untilMs });
  }
}
