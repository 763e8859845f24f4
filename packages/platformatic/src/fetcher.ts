import type { Logger } from "@cdckit/consumer";
import { type HostAndPort, isOfAnotherTopic, isRead } from "@cdckit/driver";
import type { Held, HeldPartitions } from "./assignments.ts";
import { aheadBytes } from "./assignments.ts";
import type { Cluster, Purpose } from "./cluster.ts";
import { type FetchedPartition, type FetchResponse, parseFetchResponse } from "./fetch-response.ts";
import type { Leader, Leaders } from "./leaders.ts";
import { listIn } from "./list-in.ts";
import { errorName } from "./low-level-client.ts";
import type { ResolvedPlatformaticOptions } from "./options.ts";
import { giveUpReplica, mayReadReplica, nodeToRead, preferReplica } from "./read-replica.ts";
import { type ChosenRequest, fetchesByIdFrom, fetchKey } from "./requests.ts";
import { topicIdHex } from "./topic-id-text.ts";

export interface FetcherParts {
  readonly cluster: Cluster;
  readonly assignments: HeldPartitions;
  readonly leaders: Leaders;
  readonly tuning: ResolvedPlatformaticOptions["tuning"];
  readonly logger: Logger;
  /** Takes what was fetched of a partition from an offset. Called for each partition of an answer. Never throws. */
  readonly take: (held: Held, fetched: FetchedPartition, fromOffset: bigint) => void;
  /** A broker has sent nothing of a partition, because the quota of the client is used up. It is asked again after this time. */
  readonly throttled: (held: Held, throttleMs: number) => void;
  /** The leader's metadata is of another topic of the same name. */
  readonly otherTopic: (held: Held) => void;
  /** A broker has not answered; `null`: all that are asked have. For the report on what is waited for. */
  readonly answered: (failure: unknown) => void;
}

/** What one fetch asks of a partition. */
interface Asked {
  readonly held: Held;
  readonly offset: bigint;
  readonly leader: Leader;
}

/**
 * A broker answers the requests of a connection one after the other, and holds a fetch back until there are records. So each broker has two
 * connections: a partition that becomes free while a fetch of the others waits is fetched by the other one.
 */
const lanesOfBroker = 2;
const readCommitted = 1;
const failurePauseMs = 200;

/** Fetches the partitions that are ready for more, each from its leader, or from the replica that its leader has named. A fetch for the next records is under way while the last ones are read. */
export class Fetcher {
  readonly #parts: FetcherParts;
  readonly #busy = new Set<string>();
  /** Brokers whose last fetch was not answered. */
  readonly #silent = new Set<number>();
  /** Brokers to which nothing is sent before this time. */
  readonly #throttledUntilMs = new Map<number, number>();
  #sent = 0;
  #isAwake = false;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(parts: FetcherParts) {
    this.#parts = parts;
  }

  /** Looks in the next turn of the event loop which partitions can be fetched. */
  wake(): void {
    if (!this.#isAwake && !this.#isStopped) {
      this.#isAwake = true;
      setImmediate(() => {
        this.#isAwake = false;
        this.#pump();
      });
    }
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  /**
   * Ends the wait for brokers that are not asked any more: they lead nothing that is read. One that answers does not end the wait for another
   * one, because its partitions are not read by that.
   */
  forgetUnasked(): void {
    if (this.#silent.size > 0) {
      const asked = new Set(
        this.#parts.assignments
          .all()
          .filter((held) => this.#isWanted(held))
          .map((held) => this.#nodeOf(held)),
      );
      this.#silent.forEach((one) => asked.has(one) || this.#silent.delete(one));
    }
    if (this.#silent.size === 0) {
      this.#parts.answered(null);
    }
  }

  #pump(): void {
    if (this.#isStopped) {
      return;
    }
    const nowMs = performance.now();
    let wakeInMs = Infinity;
    let needsLeaders = false;
    const byNode = new Map<number, Asked[]>();
    for (const held of this.#withinMemory(this.#parts.assignments.all())) {
      const leader = this.#parts.leaders.of(held.assignment.topic, held.assignment.partition);
      if (held.retryAtMs > nowMs) {
        wakeInMs = Math.min(wakeInMs, held.retryAtMs - nowMs);
      } else if (leader === undefined) {
        needsLeaders = true;
      } else if (isOfAnotherTopic(leader, held.assignment)) {
        held.retryAtMs = nowMs + failurePauseMs;
        wakeInMs = Math.min(wakeInMs, failurePauseMs);
        this.#parts.otherTopic(held);
      } else {
        const node = this.#nodeToRead(held, leader, nowMs);
        const throttledMs = (this.#throttledUntilMs.get(node) ?? 0) - nowMs;
        if (throttledMs > 0) {
          wakeInMs = Math.min(wakeInMs, throttledMs);
        } else {
          listIn(byNode, node).push({ held, offset: held.fetchFrom, leader });
        }
      }
    }
    if (needsLeaders && !this.#parts.leaders.isFresh) {
      void this.#parts.leaders.refresh(); // which wakes this again
    } else if (needsLeaders) {
      wakeInMs = Math.min(wakeInMs, failurePauseMs);
    }
    this.#wakeIn(wakeInMs);
    for (const [node, asked] of byNode) {
      this.#send(node, asked);
    }
  }

  #nodeToRead(held: Held, leader: Leader, nowMs: number): number {
    const node = nodeToRead(held, leader.node, nowMs);
    if (this.#parts.cluster.node(node) !== undefined) {
      return node;
    }
    giveUpReplica(held); // it is no broker of the cluster any more
    return leader.node;
  }

  /** The partitions of which more can be fetched now. */
  #withinMemory(all: readonly Held[]): readonly Held[] {
    const { maxQueuedBytes } = this.#parts.tuning;
    const ready = all.filter((held) => !held.isFetching && this.#isWanted(held));
    const queued = all.reduce((bytes, held) => bytes + aheadBytes(held), 0);
    // A partition of which nothing waits is fetched in any case: else those that are full and slow would hold up the others.
    return queued < maxQueuedBytes ? ready : ready.filter(({ ahead }) => ahead.length === 0);
  }

  /** More of it may be fetched than is fetched now. */
  #isWanted(held: Held): boolean {
    const { maxBytesPerPartition } = this.#parts.tuning;
    return isRead(held) && !held.isPaused && held.ahead.at(-1)?.end !== null && aheadBytes(held) < maxBytesPerPartition;
  }

  #wakeIn(ms: number): void {
    clearTimeout(this.#timer);
    if (ms !== Infinity) {
      this.#timer = setTimeout(() => this.#pump(), Math.max(1, ms));
    }
  }

  #send(node: number, asked: readonly Asked[]): void {
    for (let lane = 0; lane < lanesOfBroker; lane++) {
      const name = `${node} ${lane}`;
      if (!this.#busy.has(name)) {
        this.#busy.add(name);
        asked.forEach(({ held }) => {
          held.isFetching = true;
        });
        void this.#fetch(node, `fetch ${lane}`, asked).finally(() => {
          this.#busy.delete(name);
          asked.forEach(({ held }) => {
            held.isFetching = false;
          });
          this.wake();
        });
        return;
      }
    }
  }

  /** Never rejects. */
  async #fetch(node: number, purpose: Purpose, asked: readonly Asked[]): Promise<void> {
    try {
      const at = this.#parts.cluster.node(node);
      if (at === undefined) {
        throw new Error(`no broker ${node} is known`);
      }
      const hasIds = asked.every(({ held }) => held.assignment.topicId !== null);
      const request = await this.#parts.cluster.request(at, "Fetch", hasIds ? undefined : fetchesByIdFrom);
      const isById = request.version >= fetchesByIdFrom;
      const { partitions, errorCode, throttleMs } = await this.#ask(
        at,
        purpose,
        request,
        topicsOf(asked, this.#sent++ % asked.length, isById, this.#parts.tuning.maxBytesPerPartition),
        this.#rackOf(asked),
      );
      if (this.#isStopped) {
        return;
      }
      if (throttleMs > 0) {
        this.#throttledUntilMs.set(node, performance.now() + throttleMs); // what is sent before would time out
        this.#parts.logger.debug({ node, throttleMs }, "the quota of the client is used up: the broker is asked again after this time");
        if (partitions.length === 0) {
          asked.forEach(({ held }) => this.#parts.throttled(held, throttleMs));
        }
      }
      if (errorCode !== 0) {
        throw new Error(`a fetch was answered with ${errorName(this.#parts.cluster.module, errorCode)}`);
      }
      this.#silent.delete(node);
      this.forgetUnasked();
      const byPlace = new Map(asked.map((one) => [nameOf(one, isById), one]));
      for (const fetched of partitions) {
        const one = byPlace.get(`${fetched.topic} ${fetched.partition}`);
        if (one !== undefined && this.#isCurrent(one)) {
          this.#take(one, fetched, node);
        }
      }
    } catch (error) {
      if (!this.#isStopped) {
        this.#failed(asked, node, error);
      }
    }
  }

  /** Takes what a broker has answered. What a replica cannot answer, the leader is asked: a replica may lag behind what was read. */
  #take({ held, offset, leader }: Asked, fetched: FetchedPartition, node: number): void {
    const { take, tuning, leaders } = this.#parts;
    if (node !== leader.node && (fetched.errorCode !== 0 || fetched.divergesAt !== null)) {
      giveUpReplica(held);
      void leaders.refresh();
      return;
    }
    if (fetched.preferredReplica >= 0 && fetched.preferredReplica !== node) {
      preferReplica(held, fetched.preferredReplica, tuning.metadataMaxAgeMs);
    }
    take(held, fetched, offset);
  }

  /** The rack that a broker is told; an empty text if one of the partitions is to be read from its leader. */
  #rackOf(asked: readonly Asked[]): string {
    const nowMs = performance.now();
    return asked.every(({ held }) => mayReadReplica(held, nowMs)) ? (this.#parts.tuning.rackId ?? "") : "";
  }

  #ask(
    at: HostAndPort,
    purpose: Purpose,
    { version, createRequest }: ChosenRequest,
    topics: readonly object[],
    rack: string,
  ): Promise<FetchResponse> {
    const { cluster, tuning } = this.#parts;
    const api = cluster.module.createAPI(fetchKey, version, createRequest, parseFetchResponse);
    const values = [tuning.maxWaitMs, 1, tuning.maxBytes, readCommitted, 0, -1, topics, [], rack];
    return cluster.send(at, purpose, tuning.maxWaitMs, (connection) => api.async(connection, ...values));
  }

  /** The partition was not moved while the fetch was under way. */
  #isCurrent({ held, offset }: Asked): boolean {
    return isRead(held) && held.fetchFrom === offset && this.#parts.assignments.held(held.assignment) === held;
  }

  #nodeOf({ readReplica, assignment: { topic, partition } }: Held): number | undefined {
    return readReplica?.node ?? this.#parts.leaders.of(topic, partition)?.node;
  }

  #failed(asked: readonly Asked[], node: number, error: unknown): void {
    const { answered, leaders, logger } = this.#parts;
    this.#silent.add(node);
    answered(error);
    logger.debug({ err: error }, "a fetch was not answered; it is sent again");
    const retryAtMs = performance.now() + failurePauseMs;
    for (const { held, leader } of asked) {
      held.retryAtMs = retryAtMs;
      if (node !== leader.node) {
        giveUpReplica(held);
      }
    }
    void leaders.refresh();
  }
}

/** A partition as answers name it. */
function nameOf({ held: { assignment } }: Asked, isById: boolean): string {
  return `${isById ? (assignment.topicId ?? "") : assignment.topic} ${assignment.partition}`;
}

/**
 * The partitions by their topics, in the client's form. The order of topics and partitions changes with each fetch, because a broker fills its
 * answer in the order of the request, and those at its end would come off badly.
 */
function topicsOf(asked: readonly Asked[], shift: number, isById: boolean, maxBytes: number): readonly object[] {
  const topics = new Map<string, object[]>();
  for (const { held, offset, leader } of [...asked.slice(shift), ...asked.slice(0, shift)]) {
    const { topic, topicId, partition } = held.assignment;
    const name = isById && topicId !== null ? topicIdHex(topicId) : topic;
    listIn(topics, name).push({
      partition,
      currentLeaderEpoch: leader.epoch,
      fetchOffset: offset,
      lastFetchedEpoch: held.lastEpoch,
      partitionMaxBytes: Math.max(maxBytes, held.neededBytes),
    });
  }
  return [...topics].map(([topicId, partitions]) => ({ topicId, partitions }));
}
