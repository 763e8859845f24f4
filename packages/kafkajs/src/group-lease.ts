import { readableBroker } from "./ipv6-names.ts";

/** Requests whose successful answers restart the member's session at the coordinator. */
const sessionRequests: ReadonlySet<string> = new Set(["Heartbeat", "SyncGroup"]);

export interface GroupLeaseParts {
  readonly sessionTimeoutMs: number;
  /** The group keeps this member for so long from now on. `coordinator`: the broker that has said so. */
  readonly acknowledged: (validForMs: number, coordinator: string) => void;
}

/**
 * Knows when the group has last acknowledged this member. The time at which the request was sent counts, not the time of the answer: a process
 * that was frozen for minutes reads an old answer from its socket after its session has expired. kafkajs first reports that a request was
 * answered, and after that what the answer was.
 */
export class GroupLease {
  readonly #parts: GroupLeaseParts;
  #sentAtMs: number | null = null;
  #coordinator = "";

  constructor(parts: GroupLeaseParts) {
    this.#parts = parts;
  }

  /** A request was answered, whatever the answer was. */
  answered({ apiName, duration, broker }: { readonly apiName: string; readonly duration: number; readonly broker: string }): void {
    if (sessionRequests.has(apiName)) {
      this.#coordinator = readableBroker(broker);
      // kafkajs measures by the wall clock. Converted to the monotonic clock at once, so that later changes of the wall clock do not matter.
      this.#sentAtMs = performance.now() - Math.max(0, duration);
    }
  }

  /** The last such answer was a success, or asked the member to join again. Its session goes on. */
  extend(): void {
    if (this.#sentAtMs !== null) {
      this.#parts.acknowledged(this.#parts.sessionTimeoutMs - (performance.now() - this.#sentAtMs), this.#coordinator);
    }
  }
}
