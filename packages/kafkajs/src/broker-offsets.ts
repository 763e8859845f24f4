import { setTimeout as delay } from "node:timers/promises";
import type { TopicCreation } from "@cdckit/consumer";
import type { Admin } from "kafkajs";
import { bounded } from "./bounded.ts";
import { KafkaJsDriverError } from "./errors.ts";
import { originOf } from "./commit-metadata.ts";
import { isReplaced, type Landmark } from "./landmarks.ts";
import type { LogEnds, Position } from "./lost-range.ts";
import type { TopicIdsByName } from "./metadata-request.ts";
import type { TopicIds } from "./topic-ids.ts";

/** Transient errors of a coordinator that moves or is still loading. kafkajs' admin does not retry them. */
const coordinatorErrors: ReadonlySet<unknown> = new Set([
  "GROUP_LOAD_IN_PROGRESS",
  "GROUP_COORDINATOR_NOT_AVAILABLE",
  "NOT_COORDINATOR_FOR_GROUP",
]);
const coordinatorDeadlineMs = 15_000;
const coordinatorPauseMs = 200;
const answerDeadlineMs = 20_000;

/** Asks the brokers for offsets, topics and members on a connection of its own, so that fetches and questions do not delay each other. */
export class BrokerOffsets {
  readonly #makeAdmin: () => Admin;
  readonly #topicIds: TopicIds;
  #admin: Promise<Admin> | undefined;
  readonly #closed: AbortController = new AbortController();

  constructor(makeAdmin: () => Admin, topicIds: TopicIds) {
    this.#makeAdmin = makeAdmin;
    this.#topicIds = topicIds;
  }

  /** The ids of topics by their names; empty if the brokers have none. */
  topicIds(topics: readonly string[]): Promise<TopicIdsByName> {
    return this.#topicIds.of(topics);
  }

  /** Whether another record stands at the landmark's offset; false if that cannot be known. */
  async isReplaced(topic: string, partition: number, landmark: Landmark): Promise<boolean> {
    return isReplaced(landmark, await this.#topicIds.recordsAt(topic, partition, landmark.offset));
  }

  topics(): Promise<readonly string[]> {
    return this.#ask((admin) => admin.listTopics());
  }

  /** Does nothing if the topic exists by now. What is left out gets the brokers' own default. */
  createTopic(topic: string, { partitions = -1, replicationFactor = -1 }: TopicCreation): Promise<void> {
    return this.#ask(async (admin) => {
      await admin.createTopics({ topics: [{ topic, numPartitions: partitions, replicationFactor }], waitForLeaders: true });
    });
  }

  /** The group's commits in these topics. Partitions without a commit are left out. */
  committed(groupId: string, topics: readonly string[]): Promise<ReadonlyMap<string, Position>> {
    return this.#ask(async (admin) => {
      const answers = await committedOffsets(admin, groupId, topics, this.#closed.signal);
      const commits = answers.flatMap(({ topic, partitions }) =>
        partitions.map(({ partition, offset, metadata }) => {
          const position: Position = { offset: BigInt(offset), ...originOf(metadata) };
          return [placeOf(topic, partition), position] as const;
        }),
      );
      return new Map(commits.filter(([, { offset }]) => offset >= 0n));
    });
  }

  /** The starts and ends of the logs of these topics. */
  ends(topics: readonly string[]): Promise<ReadonlyMap<string, LogEnds>> {
    return this.#ask(async (admin) => {
      const answers = await Promise.all(topics.map(async (topic) => ({ topic, partitions: await admin.fetchTopicOffsets(topic) })));
      return new Map(
        answers.flatMap(({ topic, partitions }) =>
          partitions.map(({ partition, low, high }) => [placeOf(topic, partition), { low: BigInt(low), high: BigInt(high) }] as const),
        ),
      );
    });
  }

  /** The offset of the first record of this time or later in each partition, or its end. */
  offsetsAt(topics: readonly string[], timestamp: bigint): Promise<ReadonlyMap<string, bigint>> {
    return this.#ask(async (admin) => {
      const answers = await Promise.all(
        topics.map(async (topic) => ({ topic, partitions: await admin.fetchTopicOffsetsByTimestamp(topic, Number(timestamp)) })),
      );
      return new Map(
        answers.flatMap(({ topic, partitions }) =>
          partitions.map(({ partition, offset }) => [placeOf(topic, partition), BigInt(offset)] as const),
        ),
      );
    });
  }

  /** The metadata with which the members of a group have joined. */
  members(groupId: string): Promise<readonly Buffer[]> {
    return this.#ask(async (admin) => {
      const { groups } = await admin.describeGroups([groupId]);
      return groups.flatMap(({ members }) => members.map(({ memberMetadata }) => memberMetadata));
    });
  }

  async close(): Promise<void> {
    this.#closed.abort(new KafkaJsDriverError("client-crashed", "the session is closed"));
    await Promise.all([this.#letGo(), this.#topicIds.close()]);
  }

  async #ask<T>(question: (admin: Admin) => Promise<T>): Promise<T> {
    this.#closed.signal.throwIfAborted();
    this.#admin ??= this.#connect();
    const connected = this.#admin;
    try {
      return await bounded(
        connected.then(question),
        answerDeadlineMs,
        () => new KafkaJsDriverError("brokers-unreachable", `no answer within ${answerDeadlineMs} ms`),
        this.#closed.signal,
      );
    } catch (error) {
      // kafkajs' admin remembers deleted topics, and then fails for ever. A new one is made with the next question.
      if (this.#admin === connected) {
        await this.#letGo();
      }
      throw error;
    }
  }

  async #connect(): Promise<Admin> {
    const admin = this.#makeAdmin();
    await admin.connect();
    return admin;
  }

  async #letGo(): Promise<void> {
    const connected = this.#admin;
    this.#admin = undefined;
    // The first failure is reported, not this one.
    await connected?.then((admin) => admin.disconnect()).catch(() => {});
  }
}

/** The key of a partition in the maps of `BrokerOffsets`. */
export function placeOf(topic: string, partition: number): string {
  return `${topic}\0${partition}`;
}

async function committedOffsets(
  admin: Admin,
  groupId: string,
  topics: readonly string[],
  closed: AbortSignal,
): ReturnType<Admin["fetchOffsets"]> {
  for (let waitedMs = 0; ; waitedMs += coordinatorPauseMs) {
    try {
      return await admin.fetchOffsets({ groupId, topics: [...topics] });
    } catch (error) {
      const { type } = error as { type?: unknown };
      if (!coordinatorErrors.has(type) || waitedMs >= coordinatorDeadlineMs) {
        throw error;
      }
    }
    await delay(coordinatorPauseMs, undefined, { signal: closed });
  }
}
