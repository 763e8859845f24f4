import type { DriverCapabilities, DriverSession, DriverSink, KafkaDriver, Subscription } from "@cdckit/consumer";
import { MemoryBroker } from "./memory-broker.ts";
import { MemoryMember } from "./memory-member.ts";

export interface MemoryOptions {
  /** The broker to read from; several drivers on one broker can share a group. Without it, the driver has a broker of its own. */
  readonly broker?: MemoryBroker;
  /** Topics of the driver's own broker: names, and how many partitions each has. */
  readonly topics?: Readonly<Record<string, number>>;
  /**
   * Most records in a fetched batch.
   * @default 500
   */
  readonly maxBatchRecords?: number;
}

/** A driver on a broker in memory. */
export interface MemoryDriver extends KafkaDriver {
  readonly broker: MemoryBroker;
  /** Makes every open session fail, as when a client gives up. */
  fail(error: Error): void;
}

const capabilities: DriverCapabilities = Object.freeze({
  metadataCommit: false,
  cooperative: true,
  kip848: false,
  leaderEpoch: false,
  codecs: Object.freeze(["none"] as const),
  crc: false,
  offsetResetNone: false,
});

/** A driver that reads from memory: no broker, no network, the same consumer. */
export function memory(options: MemoryOptions = {}): MemoryDriver {
  if (options.broker !== undefined && options.topics !== undefined) {
    throw new RangeError("memory() takes a broker or topics, not both: create the topics on the broker");
  }
  const { maxBatchRecords = 500 } = options;
  if (!Number.isSafeInteger(maxBatchRecords) || maxBatchRecords < 1) {
    throw new RangeError(`maxBatchRecords must be a positive integer, got ${maxBatchRecords}`);
  }
  return new BrokerDriver(options.broker ?? new MemoryBroker(options.topics), maxBatchRecords);
}

class BrokerDriver implements MemoryDriver {
  readonly name = "memory";
  readonly capabilities: DriverCapabilities = capabilities;
  readonly broker: MemoryBroker;
  readonly #maxBatchRecords: number;
  readonly #members = new Set<MemoryMember>();

  constructor(broker: MemoryBroker, maxBatchRecords: number) {
    this.broker = broker;
    this.#maxBatchRecords = maxBatchRecords;
  }

  async connect(subscription: Subscription, sink: DriverSink): Promise<DriverSession> {
    const existing = this.broker.topics();
    const missing = subscription.topics.filter((topic) => typeof topic === "string" && !existing.includes(topic));
    if (missing.length > 0) {
      throw new RangeError(`there is no topic ${missing.join(", ")}; there are: ${existing.join(", ") || "none"}`);
    }
    const member = new MemoryMember(this.broker, subscription, sink, this.#maxBatchRecords);
    this.#members.add(member);
    await this.broker.group(subscription.groupId).join(member);
    void member.fetchUntilClosed().finally(() => this.#members.delete(member));
    return member;
  }

  fail(error: Error): void {
    for (const member of this.#members) {
      member.fail(error);
    }
  }
}
