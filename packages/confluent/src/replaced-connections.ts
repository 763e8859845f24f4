import type { ConnectionCounts, Report } from "./statistics.ts";

/**
 * Notices the connections that librdkafka has replaced because nothing was answered on them. It does that by itself, and says it only in its
 * statistics: a connection has counted both requests without an answer and an end. An end alone is a broker's that closes idle connections.
 */
export class ReplacedConnections {
  readonly #replaced: (why: string) => void;
  readonly #counted = new Map<string, ConnectionCounts>();

  /** `replaced`: called for each of them. `why`: a sentence without its full stop. */
  constructor(replaced: (why: string) => void) {
    this.#replaced = replaced;
  }

  take({ connections }: Pick<Report, "connections">): void {
    for (const now of connections) {
      const before = this.#counted.get(now.name);
      const hasTimedOut = before !== undefined && now.timeouts > before.timeouts;
      const hasEnded = before !== undefined && now.disconnects > before.disconnects;
      if (hasTimedOut && hasEnded) {
        this.#replaced(`${now.name} did not answer in time`);
      }
      // The two may come in different reports. An end without a time-out before it is another matter.
      if (hasTimedOut === hasEnded || !hasTimedOut) {
        this.#counted.set(now.name, now);
      }
    }
  }
}
