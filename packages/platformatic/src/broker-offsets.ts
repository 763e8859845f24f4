import { setTimeout as delay } from "node:timers/promises";
import type { TopicCreation } from "@cdckit/consumer";
import {
  type BrokerQuestions,
  type HostAndPort,
  type LogEnds,
  neededToCreate,
  originOf,
  type Place,
  placeOf,
  type Position,
  refusedResource,
  type TopicIdsByName,
  type Tried,
} from "@cdckit/driver";
import { askAgain } from "./ask-again.ts";
import { byTopic } from "./by-topic.ts";
import type { Cluster } from "./cluster.ts";
import { PlatformaticDriverError } from "./errors.ts";
import { isRefusal, reasonOf } from "./explain-failure.ts";
import { listIn } from "./list-in.ts";
import { codes, codesOf, hasCodeOf, isAnswer, responseOf } from "./low-level-client.ts";
import { coordinatorMoves, type ListOffsetsAnswer, type OffsetsAnswer, type TopicMetadata } from "./requests.ts";
import { topicIdText } from "./topic-id-text.ts";

const deadlineMs = 15_000;
const pauseMs = 100;
/** A transaction is ended within some milliseconds. A member asks after each of its own, and writes no more until it has the answer. */
const firstUnstablePauseMs = 5;
/** So long partitions are asked for again that their leaders refuse. The others wait meanwhile, and whoever needs the rest asks again. */
const restDeadlineMs = 3_000;
const createDeadlineMs = 8_000;
const earliest = -2n;
const latest = -1n;
const readUncommitted = 0;
const readCommitted = 1;

interface OffsetQuestion {
  readonly timestamp: bigint;
  readonly isolationLevel: number;
}

/** Asks the brokers for offsets and topics, on connections that fetches do not use. */
export class BrokerOffsets implements BrokerQuestions {
  readonly #cluster: Cluster;
  readonly #groupId: string;

  constructor(cluster: Cluster, groupId: string) {
    this.#cluster = cluster;
    this.#groupId = groupId;
  }

  async topics(): Promise<readonly string[]> {
    const { topics } = await this.#cluster.metadata(null);
    return topics.flatMap(({ name }) => name ?? []);
  }

  async createTopic(topic: string, { partitions = -1, replicationFactor = -1 }: TopicCreation): Promise<void> {
    const created = { name: topic, numPartitions: partitions, replicationFactor, assignments: [], configs: [] };
    await this.#untilPassed(new Set([codes.notController]), async () => {
      const { controllerId } = await this.#cluster.metadata([]);
      const controller = this.#cluster.node(controllerId);
      const create = (at: HostAndPort): Promise<unknown> =>
        this.#cluster.ask(at, "question", "CreateTopics", [[created], createDeadlineMs, false]);
      await (controller === undefined ? this.#cluster.anywhere(create) : create(controller));
    }).catch((error: unknown) => {
      if (refusedResource(codesOf(error)) !== null) {
        const detail = `the topic ${topic} could not be created: ${reasonOf(error)}. ${neededToCreate(topic)}`;
        throw new PlatformaticDriverError("not-authorized", detail, { cause: error });
      }
      if (!codesOf(error).includes(codes.topicExists)) {
        throw error;
      }
    });
  }

  async hidden(topics: readonly string[]): Promise<readonly string[]> {
    return (await this.#describe(topics)).flatMap(({ name, errorCode }) => (errorCode === codes.topicAuthorization ? (name ?? []) : []));
  }

  async topicIds(topics: readonly string[]): Promise<TopicIdsByName> {
    const ids = new Map<string, string | null>();
    for (const { name, topicId, errorCode } of await this.#describe(topics)) {
      const id = errorCode === 0 ? topicIdText(topicId) : null;
      if (name !== null && (id !== null || errorCode === codes.unknownTopicOrPartition)) {
        ids.set(name, id);
      }
    }
    return ids;
  }

  /** The group's commits in these partitions. Partitions without a commit are left out. Waits for transactions that are being ended. */
  async committed(places: readonly Place[], tried?: Tried): Promise<ReadonlyMap<string, Position>> {
    const found = new Map<string, Position>();
    if (places.length === 0) {
      return found;
    }
    const topics = byTopic(places).map(({ name, partitions }) => ({ name, partitionIndexes: partitions }));
    const groups = [{ groupId: this.#groupId, memberId: null, memberEpoch: -1, topics }];
    const ask = async (): Promise<void> => {
      const at = await this.#cluster.coordinator("group", this.#groupId);
      const answer = await this.#cluster.ask<OffsetsAnswer>(at, "question", "OffsetFetch", [groups, true]).catch((error: unknown) => {
        if (codesOf(error).every((code) => code !== codes.unstableOffsets)) {
          this.#cluster.forget("group", this.#groupId);
        }
        return withUnknownTopics<OffsetsAnswer>(error);
      });
      for (const { name, partitions } of answer.groups[0]?.topics ?? []) {
        for (const { partitionIndex, committedOffset, committedLeaderEpoch, metadata } of partitions) {
          if (committedOffset >= 0n) {
            const leaderEpoch = committedLeaderEpoch < 0 ? null : committedLeaderEpoch;
            found.set(placeOf(name, partitionIndex), { offset: committedOffset, leaderEpoch, ...originOf(metadata) });
          }
        }
      }
    };
    await this.#untilPassed(new Set([...coordinatorMoves, codes.unstableOffsets]), ask, { tried, firstPauseMs: firstUnstablePauseMs });
    return found;
  }

  /**
   * The starts and ends of the logs of these topics. A partition of which no leader has said all of them is left out. Another of its offsets
   * in place of one would be wrong: an end at the start says that the log was truncated, and one after an open transaction passes its records over.
   */
  async ends(topics: readonly string[], tried?: Tried): Promise<ReadonlyMap<string, LogEnds>> {
    const [lows, highs, stableEnds] = await Promise.all([
      this.#offsets(topics, earliest, readUncommitted, tried),
      this.#offsets(topics, latest, readUncommitted, tried),
      this.#offsets(topics, latest, readCommitted, tried),
    ]);
    const ends = new Map<string, LogEnds>();
    for (const [place, low] of lows) {
      const high = highs.get(place);
      const stable = stableEnds.get(place);
      if (high !== undefined && stable !== undefined) {
        ends.set(place, { low, high, stable });
      }
    }
    return ends;
  }

  /** The offset of the first record of this time or later in each partition. Null if there is none. */
  async offsetsAt(topics: readonly string[], timestamp: bigint, tried?: Tried): Promise<ReadonlyMap<string, bigint | null>> {
    const found = await this.#offsets(topics, timestamp, readUncommitted, tried);
    return new Map([...found].map(([place, offset]) => [place, offset < 0n ? null : offset]));
  }

  /** Every partition of these topics, as far as they exist. */
  async partitionsOf(topics: readonly string[]): Promise<readonly Place[]> {
    return (await this.#describe(topics)).flatMap(({ name, partitions }) =>
      name === null ? [] : partitions.map(({ partitionIndex }) => ({ topic: name, partition: partitionIndex })),
    );
  }

  async #describe(topics: readonly string[]): Promise<readonly TopicMetadata[]> {
    return topics.length === 0 ? [] : (await this.#cluster.metadata(topics)).topics;
  }

  /** Offsets of these topics' partitions, as far as their leaders say them. One that does not holds up no partition of another one for long. */
  async #offsets(
    topics: readonly string[],
    timestamp: bigint,
    isolationLevel: number,
    tried: Tried | undefined,
  ): Promise<ReadonlyMap<string, bigint>> {
    const found = new Map<string, bigint>();
    for (const deadline = performance.now() + restDeadlineMs; ; ) {
      const failures = await this.#askLeaders(topics, { timestamp, isolationLevel }, found);
      const final = failures.find((failure) => refusedResource(codesOf(failure)) !== null || isRefusal(failure));
      if (final !== undefined) {
        throw final;
      }
      failures.forEach((failure) => tried?.(failure));
      if (!failures.some(isAnswer) || performance.now() > deadline) {
        return found;
      }
      await delay(pauseMs, undefined, { signal: this.#cluster.closed });
    }
  }

  /** Adds the offsets of partitions that are not among the found ones, and returns what has failed. */
  async #askLeaders(topics: readonly string[], what: OffsetQuestion, found: Map<string, bigint>): Promise<readonly Error[]> {
    const byLeader = new Map<number, Place[]>();
    for (const { name, partitions } of await this.#describe(topics)) {
      for (const { partitionIndex, leaderId } of partitions) {
        const place = { topic: name ?? "", partition: partitionIndex };
        if (!found.has(placeOf(place.topic, place.partition))) {
          listIn(byLeader, leaderId).push(place);
        }
      }
    }
    const asked = [...byLeader].map(([leader, places]) => this.#askLeader(leader, places, what, found));
    return (await Promise.allSettled(asked)).flatMap((one) => (one.status === "rejected" ? [one.reason as Error] : []));
  }

  /** Rejects if the leader has refused one of the partitions, although the others of the answer are found then. */
  async #askLeader(
    leader: number,
    places: readonly Place[],
    { timestamp, isolationLevel }: OffsetQuestion,
    found: Map<string, bigint>,
  ): Promise<void> {
    const at = this.#cluster.node(leader);
    if (at === undefined) {
      return; // a partition without a leader: whoever needs it asks again
    }
    const topics = byTopic(places).map(({ name, partitions }) => ({
      name,
      partitions: partitions.map((partitionIndex) => ({ partitionIndex, currentLeaderEpoch: -1, timestamp })),
    }));
    try {
      takeOffsets(await this.#cluster.ask<ListOffsetsAnswer>(at, "question", "ListOffsets", [-1, isolationLevel, topics]), found);
    } catch (error) {
      takeOffsets(responseOf<ListOffsetsAnswer>(error), found); // the client rejects a whole answer for the error of one partition
      throw error;
    }
  }

  #untilPassed(
    passing: ReadonlySet<number>,
    ask: () => Promise<void>,
    { tried, firstPauseMs = pauseMs }: { readonly tried?: Tried | undefined; readonly firstPauseMs?: number } = {},
  ): Promise<void> {
    return askAgain(ask, {
      mayPass: (error) => hasCodeOf(error, passing),
      deadline: performance.now() + deadlineMs,
      pauseMs,
      firstPauseMs,
      ended: this.#cluster.closed,
      failed: tried,
    });
  }
}

/** Adds the offsets of the partitions that have no error. */
function takeOffsets(answer: ListOffsetsAnswer | undefined, found: Map<string, bigint>): void {
  for (const { name, partitions } of answer?.topics ?? []) {
    for (const { partitionIndex, errorCode, offset } of partitions) {
      if (errorCode === 0) {
        found.set(placeOf(name, partitionIndex), offset);
      }
    }
  }
}

/** What was answered if the only errors are about topics that do not exist: they have no commits. */
function withUnknownTopics<T>(error: unknown): T {
  const answer = responseOf<T>(error);
  if (answer === undefined || codesOf(error).some((code) => code !== codes.unknownTopicOrPartition)) {
    throw error;
  }
  return answer;
}
