import type { Clock, DriverCapabilities, DriverSession, DriverSink, KafkaDriver, Subscription } from "@cdckit/consumer";
import { MemoryBroker } from "./memory-broker.ts";
import { resumeOffset, lostRangeError, MemoryBrokerError } from "./memory-error.ts";
import { MemoryMember } from "./memory-member.ts";
import { checkOptionNames } from "./option-names.ts";
import { bindMethods } from "./bind-methods.ts";

/** The options of `memory`: a broker that is shared, or topics for one of its own. */
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
  /**
   * How many partitions are handed over at a time. Each keeps its order. A batch that takes longer than 10 ms does not count any more: it
   * holds up its own partition only.
   * @default 1
   */
  readonly partitionsConsumedConcurrently?: number;
  /**
   * The client's own clock, for its heartbeats: a test that stops it stops them.
   * @default the broker's
   */
  readonly clock?: Clock;
}

/** A driver on a broker in memory. */
export interface MemoryDriver extends KafkaDriver {
  /** The broker that it reads: append records to it, look at its commits. */
  readonly broker: MemoryBroker;
  /** Makes every open session fail, as when a client gives up. */
  fail(error: Error): void;
}

/** A new option does not compile without a name here. */
const optionNames: Readonly<Record<keyof MemoryOptions, true>> = {
  broker: true,
  topics: true,
  maxBatchRecords: true,
  partitionsConsumedConcurrently: true,
  clock: true,
};

/** A driver that reads from memory: no broker, no network, the same consumer. */
export function memory(options: MemoryOptions = {}): MemoryDriver {
  checkOptionNames("memory()", options, optionNames);
  if (Array.isArray(options.topics)) {
    throw new RangeError("memory({ topics }) expects the number of partitions of each topic, such as { orders: 1 }, got a list");
  }
  if (options.broker !== undefined && options.topics !== undefined) {
    throw new RangeError("memory() takes a broker or topics, not both: create the topics on the broker");
  }
  const { maxBatchRecords = 500, partitionsConsumedConcurrently = 1 } = options;
  const broker = options.broker ?? new MemoryBroker(options.topics);
  for (const [name, value] of Object.entries({ maxBatchRecords, partitionsConsumedConcurrently })) {
    if (!Number.isSafeInteger(value) || value < 1) {
      throw new RangeError(`${name} must be a positive integer, got ${value}`);
    }
  }
  return new BrokerDriver(broker, { maxBatchRecords, partitionsConsumedConcurrently, clock: options.clock ?? broker.clock });
}

interface FetchTuning {
  readonly clock: Clock;
  readonly maxBatchRecords: number;
  readonly partitionsConsumedConcurrently: number;
}

class BrokerDriver implements MemoryDriver {
  readonly name = "memory";
  readonly capabilities: DriverCapabilities;
  readonly broker: MemoryBroker;
  readonly #tuning: FetchTuning;
  readonly #members = new Set<MemoryMember>();

  constructor(broker: MemoryBroker, tuning: FetchTuning) {
    this.broker = broker;
    this.#tuning = tuning;
    this.capabilities = Object.freeze({
      metadataCommit: true,
      topicIds: true,
      cooperative: broker.rebalance === "cooperative",
      awaitsRevoked: true,
      kip848: false,
      leaderEpoch: false,
      codecs: Object.freeze(["none"] as const),
      crc: false,
      offsetResetNone: true,
      reportsStart: true,
      staticMembership: false,
      nullHeaders: true,
      reasons: Object.freeze({
        ...(broker.rebalance === "cooperative" ? {} : { cooperative: "the broker is made with eager rebalances" }),
        kip848: "the broker in memory has one protocol of groups, which is none of Kafka's",
        leaderEpoch: "the broker in memory has no leaders",
        crc: "records in memory have no checksums",
        staticMembership: "the broker in memory draws the id of each member",
      }),
    });
    bindMethods(this);
  }

  async connect(subscription: Subscription, sink: DriverSink): Promise<DriverSession> {
    await this.#reach(subscription);
    this.#refuseMissing(subscription);
    this.#prepareWritten(subscription);
    const member = new MemoryMember({ broker: this.broker, subscription, sink, ...this.#tuning });
    if (subscription.startAt === undefined) {
      this.#refuseLostRange(member, subscription);
    }
    this.#members.add(member);
    void member.fetchUntilClosed().finally(() => this.#members.delete(member));
    const joined = this.broker.group(subscription.groupId).join(member);
    member.beatUntilClosed();
    await joined;
    return member;
  }

  fail(error: Error): void {
    for (const member of this.#members) {
      member.fail(error);
    }
  }

  /** A turn of the network, or what a test has made of it; nobody waits longer than the consumer does. */
  async #reach({ groupId, signal }: Subscription): Promise<void> {
    const reached = this.broker.faults.perform({ operation: "connect", groupId }, () => {});
    let giveUp = (): void => {};
    const aborted = new Promise<never>((_, reject) => {
      const refuse = (): void => reject(new MemoryBrokerError("aborted", "nobody waits for the connection any more"));
      // What is reached in this turn is reached.
      giveUp = () => void this.broker.clock.yieldToEventLoop().then(refuse);
    });
    signal?.addEventListener("abort", giveUp);
    await Promise.race([reached, aborted]).finally(() => signal?.removeEventListener("abort", giveUp));
  }

  #refuseMissing({ topics }: Subscription): void {
    const existing = this.broker.topics();
    const missing = topics.filter((topic) => typeof topic === "string" && !existing.includes(topic));
    const isMatched =
      topics.length === 0 || topics.some((topic) => typeof topic === "string" || existing.some((name) => name.search(topic) !== -1));
    if (missing.length > 0) {
      throw this.#topicMissing(`there is no topic ${missing.join(", ")}`);
    }
    if (!isMatched) {
      throw this.#topicMissing(`no topic matches ${topics.join(", ")}`);
    }
  }

  #topicMissing(what: string): MemoryBrokerError {
    return new MemoryBrokerError("topic-missing", `${what}; there are: ${this.broker.topics().join(", ") || "none"}`);
  }

  #prepareWritten({ writesTo = [] }: Subscription): void {
    for (const { topic, option, create } of writesTo.filter((written) => !this.broker.topics().includes(written.topic))) {
      if (create === null) {
        throw this.#topicMissing(`there is no topic ${topic}, which ${option} names`);
      }
      this.broker.createTopic(topic, create.partitions);
    }
  }

  #refuseLostRange(member: MemoryMember, subscription: Subscription): void {
    for (const topic of this.broker.topics().filter((name) => member.subscribes(name))) {
      for (let partition = 0; partition < this.broker.partitions(topic); partition++) {
        const start = member.startOf(topic, partition);
        if (typeof start !== "bigint" && resumeOffset(start, subscription.lostRange) === null) {
          throw lostRangeError(start);
        }
      }
    }
  }
}
