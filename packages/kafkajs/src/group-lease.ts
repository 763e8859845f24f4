/** Requests with whose answers the coordinator starts the member's session anew. */
const sessionRequests: ReadonlySet<string> = new Set(["Heartbeat", "SyncGroup"]);

export interface GroupLeaseParts {
  readonly sessionTimeoutMs: number;
  /** For so long from now on, the group holds this member for one of its own. */
  readonly acknowledged: (validForMs: number) => void;
}

/**
 * When the group has last acknowledged this member. What counts is when the request was sent: a process that was frozen reads an answer
 * that has lain in its socket for minutes, and the session is long over. kafkajs tells the time of a request, and only then what it said.
 */
export class GroupLease {
  readonly #parts: GroupLeaseParts;
  #sentAtMs: number | null = null;

  constructor(parts: GroupLeaseParts) {
    this.#parts = parts;
  }

  /** A request was answered, whatever it said. */
  answered({ apiName, duration }: { readonly apiName: string; readonly duration: number }): void {
    if (sessionRequests.has(apiName)) {
      // From the durations of the wall clock to the monotonic one at once: from here on a change of the wall clock does not matter.
      this.#sentAtMs = performance.now() - Math.max(0, duration);
    }
  }

  /** The last such answer was a yes, or the wish that the member joins again: its session goes on. */
  extend(): void {
    if (this.#sentAtMs !== null) {
      this.#parts.acknowledged(this.#parts.sessionTimeoutMs - (performance.now() - this.#sentAtMs));
    }
  }
}
