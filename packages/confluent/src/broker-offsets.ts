import { setTimeout as delay } from "node:timers/promises";
import type { TopicCreation } from "@cdckit/consumer";
import {
  bounded,
  type BrokerQuestions,
  type LogEnds,
  neededToCreate,
  originOf,
  placeOf,
  type Position,
  sharedAbortController,
  refusedResource,
  type TopicIdsByName,
  type Tried,
} from "@cdckit/driver";
import { AdminClients } from "./admin-clients.ts";
import { ConfluentDriverError } from "./errors.ts";
import {
  answerOf,
  type Answer,
  type ClientError,
  type CommittedPartition,
  codes,
  type ListedOffset,
  type LowLevelAdmin,
  type LowLevelConsumer,
  type TopicDescription,
  type TopicPartition,
} from "./low-level-client.ts";
import { topicIdText } from "./topic-id-text.ts";

/** A question takes a thread of libuv for so long at most, and a process that exits waits for that thread. */
const answerDeadlineMs = 5_000;
/**
 * How long a description of topics may take, at the first attempt and at those after it. librdkafka asks the controller for it, and brokers of Kafka's
 * KRaft mode name any broker as that, also one that cannot be reached from here. Another client is told of another one, perhaps.
 */
const describeDeadlinesMs = [1_000, 1_000, 1_000, 1_000, 1_000, answerDeadlineMs];
const groupDeadlineMs = 3_000;
const passingDeadlineMs = 15_000;
const passingPauseMs = 100;
/** What passes by itself: a coordinator that moves or is loading, a transaction whose end is not written yet, a leader that is elected. */
const passing: ReadonlySet<number> = new Set([
  codes.coordinatorLoading,
  codes.coordinatorNotAvailable,
  codes.notCoordinator,
  codes.unstableOffsets,
  codes.timedOut,
]);
const earliest = -2;
const latest = -1;
/** What brokers answer for a partition without a record of the time or later. */
const noSuchRecord = -1;
const readOperation = 3;
const readUncommitted = 0;
const readCommitted = 1;

interface OffsetQuestion {
  readonly timestamp: number;
  readonly isolationLevel: number;
}

/** Partitions of one leader. */
interface Led {
  readonly leader: number;
  readonly partitions: readonly TopicPartition[];
}

/** Asks the brokers for offsets and topics, by a client of its own: questions do not wait for the fetches on a connection. */
export class BrokerOffsets implements BrokerQuestions {
  readonly #makeAdmin: () => LowLevelAdmin;
  readonly #admins: AdminClients;
  /** Leaders that have not answered their last question, by their ids. */
  readonly #silent = new Set<number>();
  /** What these are asked by, each with a client of its own: who waits for one of them holds up no question to another broker. */
  readonly #ofSilent = new Map<number, AdminClients>();
  readonly #consumer: Pick<LowLevelConsumer, "committed">;
  readonly #closed: AbortController = sharedAbortController();
  readonly #asking = new Set<Promise<unknown>>();

  /** `consumer`: a connected one of the group. */
  constructor(makeAdmin: () => LowLevelAdmin, consumer: Pick<LowLevelConsumer, "committed">) {
    this.#makeAdmin = makeAdmin;
    this.#admins = new AdminClients(makeAdmin);
    this.#consumer = consumer;
  }

  topics(): Promise<readonly string[]> {
    return this.#ask((admin, done) => admin.listTopics({ timeout: answerDeadlineMs }, done));
  }

  /** Does nothing if the topic exists by now. What is left out gets the brokers' own default. */
  async createTopic(topic: string, { partitions = -1, replicationFactor = -1 }: TopicCreation): Promise<void> {
    const created = { topic, num_partitions: partitions, replication_factor: replicationFactor };
    await this.#ask<unknown>((admin, done) => admin.createTopic(created, answerDeadlineMs, done)).catch((error: unknown) => {
      const { code, message } = error as Partial<ClientError>;
      if (refusedResource([code]) !== null) {
        const detail = `the topic ${topic} could not be created: ${String(message).replace(/\.*\s*$/, "")}. ${neededToCreate(topic)}`;
        throw new ConfluentDriverError("not-authorized", detail, { cause: error });
      }
      if (code !== codes.topicExists) {
        throw error;
      }
    });
  }

  async hidden(topics: readonly string[]): Promise<readonly string[]> {
    return (await this.#describe(topics)).flatMap(({ name, error }) => (error?.code === codes.topicAuthorization ? name : []));
  }

  /** Those of these topics that the user may not read, as far as the brokers say it. */
  async unreadable(topics: readonly string[]): Promise<readonly string[]> {
    const options = { timeout: answerDeadlineMs, includeAuthorizedOperations: true };
    const described = await this.#ask<readonly TopicDescription[]>((admin, done) => admin.describeTopics(topics, options, done));
    return described.flatMap(({ name, error, authorizedOperations: allowed }) => {
      const isRefused = error?.code === codes.topicAuthorization || (allowed?.includes(readOperation) ?? true) === false;
      return isRefused ? name : [];
    });
  }

  async topicIds(topics: readonly string[]): Promise<TopicIdsByName> {
    const ids = new Map<string, string | null>();
    for (const { name, topicId, error } of await this.#describe(topics)) {
      const id = error === undefined ? topicIdText(topicId.base64) : null;
      if (id !== null || error?.code === codes.unknownTopicOrPartition) {
        ids.set(name, id);
      }
    }
    return ids;
  }

  /**
   * The group's commits in these partitions. Partitions without a commit are left out. Waits for transactions that are being ended. It asks by the
   * consumer, because librdkafka 2.15 crashes the process if its administrative client is told that the coordinator has moved.
   */
  async committed(partitions: readonly TopicPartition[], tried?: Tried): Promise<ReadonlyMap<string, Position>> {
    const found = new Map<string, Position>();
    if (partitions.length > 0) {
      const asked = partitions.map(({ topic, partition }) => ({ topic, partition }));
      await this.#untilPassed(async () => {
        this.#closed.signal.throwIfAborted();
        const answer = answerOf<readonly (CommittedPartition | Error)[]>((done) => this.#consumer.committed(asked, groupDeadlineMs, done));
        for (const one of await this.#bounded(answer, passingDeadlineMs)) {
          if (one instanceof Error) {
            throw one;
          }
          if (one.offset !== undefined && one.offset >= 0) {
            found.set(placeOf(one.topic, one.partition), { offset: BigInt(one.offset), ...originOf(one.metadata) });
          }
        }
      }, tried);
    }
    return found;
  }

  /**
   * The starts and ends of the logs of these topics. A partition of which no leader has said all of them is left out. Another of its offsets
   * in place of one would be wrong: an end at the start says that the log was truncated, and one after an open transaction passes its records over.
   */
  async ends(topics: readonly string[]): Promise<ReadonlyMap<string, LogEnds>> {
    const answers = await this.#offsets(topics, [
      { timestamp: earliest, isolationLevel: readUncommitted },
      { timestamp: latest, isolationLevel: readUncommitted },
      { timestamp: latest, isolationLevel: readCommitted },
    ]);
    const ends = new Map<string, LogEnds>();
    for (const [place, [low = null, high = null, stable = null]] of answers) {
      if (low !== null && high !== null && stable !== null) {
        ends.set(place, { low, high, stable });
      }
    }
    return ends;
  }

  /** The offset of the first record of this time or later in each partition. Null if there is none. */
  async offsetsAt(topics: readonly string[], timestamp: bigint): Promise<ReadonlyMap<string, bigint | null>> {
    const answers = await this.#offsets(topics, [{ timestamp: Number(timestamp), isolationLevel: readUncommitted }]);
    return new Map([...answers].map(([place, [offset = null]]) => [place, offset]));
  }

  /** Every partition of these topics, as far as they exist. */
  async partitionsOf(topics: readonly string[]): Promise<readonly TopicPartition[]> {
    return (await this.#describe(topics)).flatMap(({ name, partitions }) =>
      partitions.map(({ partition }) => ({ topic: name, partition })),
    );
  }

  /**
   * What is under way ends with an error. Resolves when the clients may be destroyed: a question in another thread still uses them, and the
   * client does not guard against that.
   */
  async close(): Promise<void> {
    this.#closed.abort(new ConfluentDriverError("client-crashed", "the session is closed"));
    await Promise.allSettled(this.#asking);
    this.#admins.replace();
    this.#ofSilent.forEach((admins) => admins.replace());
  }

  async #describe(
    topics: readonly string[],
    [timeout = answerDeadlineMs, ...later]: readonly number[] = describeDeadlinesMs,
  ): Promise<readonly TopicDescription[]> {
    if (topics.length === 0) {
      return [];
    }
    try {
      return await this.#ask<readonly TopicDescription[]>((admin, done) => admin.describeTopics(topics, { timeout }, done));
    } catch (error) {
      if (!isUnanswered(error) || later.length === 0) {
        throw error;
      }
      return this.#describe(topics, later);
    }
  }

  /** What leaders have answered to each of the questions. A partition is left out if one of the answers is missing. */
  async #offsets(
    topics: readonly string[],
    questions: readonly OffsetQuestion[],
  ): Promise<ReadonlyMap<string, readonly (bigint | null)[]>> {
    const answers = new Map<string, (bigint | null)[]>();
    const askAll = async (led: Led): Promise<void> => {
      for (const question of questions) {
        const found = await this.#askLeader(led, question);
        if (found === null) {
          return; // its next answer would be waited for as long
        }
        for (const [place, offset] of found) {
          answers.set(place, [...(answers.get(place) ?? []), offset]);
        }
      }
    };
    await Promise.all(ledBy(await this.#describe(topics)).map(askAll));
    return new Map([...answers].filter(([, { length }]) => length === questions.length));
  }

  /**
   * What a leader answers: null for a partition if it has no such record. Null in place of all of them if it has not answered in time. librdkafka asks
   * several leaders at once, but the client waits no longer than for the last of them, and gives up what the others have said (seen with 1.10.1): so
   * each is asked by itself.
   */
  async #askLeader({ leader, partitions }: Led, question: OffsetQuestion): Promise<ReadonlyMap<string, bigint | null> | null> {
    const admins = this.#adminsOf(leader);
    try {
      const found = await this.#listed(admins, partitions, question);
      if (this.#silent.delete(leader)) {
        admins.replace();
      }
      return found;
    } catch (error) {
      if (!isUnanswered(error)) {
        throw error;
      }
      this.#silent.add(leader);
      return null;
    }
  }

  #adminsOf(leader: number): AdminClients {
    if (!this.#silent.has(leader)) {
      return this.#admins;
    }
    const admins = this.#ofSilent.get(leader) ?? new AdminClients(this.#makeAdmin);
    this.#ofSilent.set(leader, admins);
    return admins;
  }

  /**
   * One whose leader has just gone has no error, and -1001 for its offset; if none of them has a leader, the question itself is refused (seen with
   * 2.15.1).
   */
  async #listed(
    admins: AdminClients,
    partitions: readonly TopicPartition[],
    { timestamp, isolationLevel }: OffsetQuestion,
  ): Promise<ReadonlyMap<string, bigint | null>> {
    const specs = partitions.map(({ topic, partition }) => ({ topic, partition, offset: { timestamp } }));
    const options = { timeout: answerDeadlineMs, isolationLevel };
    const ask = (admin: LowLevelAdmin, done: Answer<readonly ListedOffset[]>): void => admin.listOffsets(specs, options, done);
    const found = new Map<string, bigint | null>();
    for (const { topic, partition, offset, error } of await this.#ask(ask, admins).catch(noneIfNoneIsLed)) {
      if (error === undefined && offset >= noSuchRecord) {
        found.set(placeOf(topic, partition), offset === noSuchRecord ? null : BigInt(offset));
      }
    }
    if (found.size < partitions.length) {
      admins.replace(); // it may know a leader that is none any more
    }
    return found;
  }

  async #untilPassed(ask: () => Promise<void>, tried?: Tried): Promise<void> {
    for (const deadline = performance.now() + passingDeadlineMs; ; ) {
      try {
        await ask();
        return;
      } catch (error) {
        if (!passing.has((error as Partial<ClientError>).code ?? 0) || performance.now() > deadline) {
          throw error;
        }
        tried?.(error);
      }
      await delay(passingPauseMs, undefined, { signal: this.#closed.signal });
    }
  }

  async #ask<T>(question: (admin: LowLevelAdmin, done: Answer<T>) => void, admins: AdminClients = this.#admins): Promise<T> {
    this.#closed.signal.throwIfAborted();
    const unwanted = new AbortController();
    try {
      return await this.#bounded(admins.ask(question, unwanted.signal), answerDeadlineMs);
    } finally {
      unwanted.abort();
    }
  }

  #bounded<T>(asked: Promise<T>, deadlineMs: number): Promise<T> {
    const settled = asked.catch(() => {}).finally(() => this.#asking.delete(settled));
    this.#asking.add(settled);
    const late = (): Error => new ConfluentDriverError("brokers-unreachable", `no answer within ${deadlineMs} ms`);
    return bounded(asked, deadlineMs + 1_000, late, this.#closed.signal);
  }
}

/** The partitions by their leaders. Nobody can be asked about those without one. */
function ledBy(topics: readonly TopicDescription[]): readonly Led[] {
  const byLeader = new Map<number, TopicPartition[]>();
  for (const { name, partitions } of topics) {
    for (const { partition, leader } of partitions) {
      if (leader !== null && leader !== undefined) {
        const led = byLeader.get(leader.id) ?? [];
        byLeader.set(leader.id, led);
        led.push({ topic: name, partition });
      }
    }
  }
  return [...byLeader].map(([leader, partitions]) => ({ leader, partitions }));
}

/** librdkafka has heard nothing in time, or this driver has not. */
function isUnanswered(error: unknown): boolean {
  const { code } = error as { readonly code?: unknown };
  return code === codes.timedOut || code === codes.transport || code === "brokers-unreachable";
}

function noneIfNoneIsLed(error: unknown): readonly [] {
  if ((error as Partial<ClientError>).code !== codes.noEntry) {
    throw error;
  }
  return [];
}
