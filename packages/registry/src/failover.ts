import type { Endpoint } from "./endpoint.ts";
import { isRegistryError, RegistryError } from "./errors.ts";

/** The addresses of one registry. The one that answered last is asked first, and the next where it does not answer. */
export class Failover {
  readonly #endpoints: readonly Endpoint[];
  #good = 0;

  constructor(endpoints: readonly Endpoint[]) {
    this.#endpoints = endpoints;
  }

  /** Asks each address at most once. Only what may pass leads to the next one: "no such schema" and "not for you" are answers. */
  async ask<T>(send: (endpoint: Endpoint) => Promise<T>, closed: AbortSignal): Promise<T> {
    const failures: RegistryError[] = [];
    const first = this.#good;
    for (let step = 0; step < this.#endpoints.length; step++) {
      const index = (first + step) % this.#endpoints.length;
      try {
        // The index is below the length, which is at least one.
        const answer = await send(this.#endpoints[index] as Endpoint);
        this.#good = index;
        return answer;
      } catch (error) {
        if (!isRegistryError(error) || !error.retriable || closed.aborted) {
          this.#good = index;
          throw error;
        }
        failures.push(error);
      }
    }
    throw joined(failures);
  }
}

function joined(failures: readonly RegistryError[]): RegistryError {
  const last = failures.at(-1) as RegistryError; // there is at least one address, and it failed
  if (failures.length === 1) {
    return last;
  }
  const retryAfterMs = Math.max(...failures.map((failure) => failure.retryAfterMs ?? 0));
  const detail = `none of ${failures.length} urls answered: ${failures.map((failure) => failure.detail).join("; ")}`;
  return new RegistryError("unavailable", detail, { ...last, retryAfterMs, cause: new AggregateError(failures) });
}
