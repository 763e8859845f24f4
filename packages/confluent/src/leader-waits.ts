import type { DriverSink } from "@cdckit/consumer";
import { type DriverError, isRead, PartitionWaits, type Place, placeOf } from "@cdckit/driver";
import type { Held, HeldPartitions } from "./assignments.ts";
import type { ClientLog } from "./client-log.ts";
import { makeError } from "./errors.ts";
import { refusal } from "./explain-failure.ts";
import type { Report } from "./statistics.ts";

export interface LeaderWaitsParts {
  readonly sink: Pick<DriverSink, "waiting">;
  /** The brokers' addresses, for messages. */
  readonly brokers: string;
  readonly assignments: Pick<HeldPartitions, "all">;
  readonly log: Pick<ClientLog, "failureOf">;
}

/**
 * Reports partitions without a leader, and those whose broker is not connected although others are. librdkafka waits for either in silence:
 * its own error comes when no broker is left.
 */
export class LeaderWaits {
  readonly #parts: LeaderWaitsParts;
  readonly #leaderless: PartitionWaits;
  readonly #unconnected: PartitionWaits;

  constructor(parts: LeaderWaitsParts) {
    this.#parts = parts;
    const { sink, brokers: host } = parts;
    this.#leaderless = new PartitionWaits({ sink, what: "the leader", host });
    this.#unconnected = new PartitionWaits({ sink, what: "the connection to its broker", host });
  }

  take(report: Pick<Report, "isConnected" | "leaderless" | "sources" | "unconnected">): void {
    const read = this.#parts.assignments.all().filter(isRead);
    const places = new Set(report.leaderless.map(({ topic, partition }) => placeOf(topic, partition)));
    this.#leaderless.noteLeaders(read, ({ topic, partition }) => !places.has(placeOf(topic, partition)), makeError);
    for (const held of read) {
      const { topic, partition } = held.assignment;
      const name = report.unconnected.get(report.sources.get(placeOf(topic, partition)) ?? Number.NaN);
      // Without any broker, the wait is for the connection to all of them.
      if (name !== undefined && report.isConnected && isFetched(held)) {
        this.#unconnected.failed(held, this.#errorOf(name, held.assignment));
      } else {
        this.#unconnected.end(held);
      }
    }
  }

  #errorOf(name: string, { topic, partition }: Place): DriverError<string> {
    const failure = this.#parts.log.failureOf(name) ?? name;
    const known = refusal(failure, name);
    return makeError(
      known?.code ?? "brokers-unreachable",
      `the broker from which ${topic}[${partition}] is read is not connected: ${known?.detail ?? failure}`,
    );
  }
}

/** librdkafka lets a connection go on which nothing is to be fetched. */
function isFetched({ isPlaced, isPaused, isHeld }: Held): boolean {
  return isPlaced && !isPaused && !isHeld;
}
