import { Breaker, type BreakerBounds } from "./breaker.ts";
import type { RegistryClock } from "./clock.ts";
import type { Endpoint } from "./endpoint.ts";
import { isRegistryError, RegistryError } from "./errors.ts";
import { Gate } from "./gate.ts";

export interface FailoverTools {
  /** Requests under way at once. */
  readonly concurrency: number;
  readonly breaker: BreakerBounds;
  readonly clock: RegistryClock;
  readonly random: () => number;
}

interface Address {
  readonly endpoint: Endpoint;
  readonly breaker: Breaker;
  /** What was wrong the last time; empty if nothing was. While nothing is asked, it is all that is known. */
  lastFailure: string;
}

/** The addresses of one registry. The one that answered last is asked first. If it does not answer, the next one is asked. */
export class Failover {
  readonly #addresses: readonly Address[];
  readonly #gate: Gate;
  #good = 0;

  constructor(endpoints: readonly Endpoint[], { concurrency, breaker, clock, random }: FailoverTools) {
    this.#gate = new Gate(concurrency);
    this.#addresses = endpoints.map((endpoint) => ({ endpoint, breaker: new Breaker(breaker, clock, random), lastFailure: "" }));
  }

  /** Asks each address at most once. Only a transient failure leads to the next one: "no such schema" and "not allowed" are answers. */
  async ask<T>(send: (endpoint: Endpoint) => Promise<T>, closed: AbortSignal): Promise<T> {
    const failures: RegistryError[] = [];
    const first = this.#good;
    for (let tried = 0; tried < this.#addresses.length; tried++) {
      const index = (first + tried) % this.#addresses.length;
      const address = this.#addresses[index] as Address; // the index is below the length, and there is at least one address
      try {
        // The breaker is asked when it is the question's turn: it may have opened while the question waited for that.
        const answer = await this.#gate.run(() => askThrough(address, send));
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

async function askThrough<T>(address: Address, send: (endpoint: Endpoint) => Promise<T>): Promise<T> {
  const { endpoint, breaker, lastFailure } = address;
  const waitMs = breaker.waitMs();
  if (waitMs > 0) {
    const detail = `${endpoint.url} has not answered several times in a row, and is not asked for another ${waitMs} ms. The last time: ${lastFailure}`;
    throw new RegistryError("unavailable", detail, { url: endpoint.url });
  }
  try {
    const answer = await send(endpoint);
    breaker.succeeded();
    return answer;
  } catch (error) {
    if (!isRegistryError(error)) {
      breaker.abandoned();
    } else if (error.retriable) {
      breaker.failed();
      address.lastFailure = error.detail;
    } else {
      breaker.succeeded(); // a refusal is an answer
    }
    throw error;
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
