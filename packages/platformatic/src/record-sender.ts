import { randomInt } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { OutgoingRecord } from "@cdckit/consumer";
import { type HostAndPort, maxBatchBytes, neededToWrite, placeOf } from "@cdckit/driver";
import { askAgain } from "./ask-again.ts";
import type { Cluster } from "./cluster.ts";
import { PlatformaticDriverError } from "./errors.ts";
import { isUnanswered, mayPass } from "./explain-failure.ts";
import { listIn } from "./list-in.ts";
import { codes, hasCodeOf, responseOf } from "./low-level-client.ts";
import { type ClientRecord, toClientRecord } from "./outgoing.ts";
import {
  coordinatorMoves,
  leaderMoves,
  type MetadataAnswer,
  type ProduceAnswer,
  type ProducerIdAnswer,
  type TopicMetadata,
} from "./requests.ts";

/** How long records may take until every in-sync replica has them. */
export const writeDeadlineMs = 20_000;
/** A topic that does not exist is an error after this time: brokers may learn of a new one a moment late. */
const missingDeadlineMs = 3_000;
const pauseMs = 100;
const ackOfAllReplicas = -1;
/** Kafka counts the records of a producer from 0 to this, and begins again. */
const sequencesOfPartition = 2 ** 31;
const passing: ReadonlySet<number> = new Set([
  ...leaderMoves,
  codes.requestTimedOut,
  codes.notEnoughReplicas,
  codes.notEnoughReplicasAfterAppend,
  codes.concurrentTransactions,
]);
/** A broker asks its controller for a thousand producer ids at once. Until it has them, as at its first producer, it says that it is loading. */
const passingWithoutId: ReadonlySet<number> = new Set([...coordinatorMoves, codes.requestTimedOut]);

/** Who writes: an idempotent producer, perhaps a transactional one. */
export interface ProducerIdentity extends ProducerIdAnswer {
  readonly transactionalId?: string;
}

/**
 * Writes records by requests of its own, as an idempotent producer: what is sent again after a lost answer is written once. It is of no use any
 * more after a failed write, because it does not know what the brokers have.
 */
export class RecordSender {
  readonly #cluster: Cluster;
  readonly #identity: ProducerIdentity;
  /** The sequence number of the next record in each partition. */
  readonly #sequences: Map<string, number>;
  /** Of records without a key. It begins anywhere: after a failed write, another producer would otherwise try the same partition again. */
  #turn: number = randomInt(2 ** 31);

  constructor(cluster: Cluster, identity: ProducerIdentity, sequences: ReadonlyMap<string, number> = new Map()) {
    this.#cluster = cluster;
    this.#identity = identity;
    this.#sequences = new Map(sequences);
  }

  /** Gives each record a partition, in the order of the records. Throws if a topic or a partition does not exist. */
  async place(records: readonly OutgoingRecord[]): Promise<readonly ClientRecord[]> {
    const topics = [...new Set(records.map(({ topic }) => topic))];
    const known = await this.#partitionsOf(topics);
    const turn = this.#turn++;
    return records.map((record) => {
      const { topic, partition, key } = record;
      const { count, led } = known.get(topic) ?? nothing;
      if (partition !== undefined && (partition < 0 || partition >= count)) {
        throw new PlatformaticDriverError("send-failed", `${topic} has no partition ${partition}; it has ${count}`);
      }
      const inTurn = led[turn % led.length] ?? turn % count; // a record without a key need not wait for a leader
      return toClientRecord(record, partition ?? (key === null ? inTurn : this.#partitionOf(key, count)));
    });
  }

  /** Resolves when every in-sync replica has every record. Nothing more is sent after `givenUp`, because the caller may do it again. */
  async write(records: readonly ClientRecord[], givenUp: AbortSignal): Promise<void> {
    const deadline = performance.now() + writeDeadlineMs;
    for (let waiting = [...records]; waiting.length > 0; ) {
      const { now, later } = nextBatches(waiting);
      await this.#writeBatches(now, deadline, givenUp);
      waiting = later;
    }
  }

  async #writeBatches(records: readonly ClientRecord[], deadline: number, givenUp: AbortSignal): Promise<void> {
    for (let left = records; left.length > 0; ) {
      const metadata = await this.#metadata([...new Set(left.map(({ topic }) => topic))], deadline);
      givenUp.throwIfAborted();
      const failures: unknown[] = [];
      const done = new Set<string>();
      await Promise.all(
        [...byLeader(left, metadata)].map(([leader, ofLeader]) =>
          this.#writeTo(leader, ofLeader, done).catch((error: unknown) => failures.push(error)),
        ),
      );
      for (const place of done) {
        const written = left.filter((one) => placeOf(one.topic, one.partition) === place).length;
        this.#sequences.set(place, ((this.#sequences.get(place) ?? 0) + written) % sequencesOfPartition);
      }
      left = left.filter(({ topic, partition }) => !done.has(placeOf(topic, partition)));
      const final = failures.find((failure) => !mayPass(failure, passing));
      if (final !== undefined || (left.length > 0 && performance.now() > deadline)) {
        throw (final ?? failures[0] ?? noLeader(left)) as Error;
      }
      if (left.length > 0) {
        await delay(pauseMs, undefined, { signal: this.#cluster.closed });
      }
    }
  }

  /** Adds to `done` the partitions whose records are written. Rejects if others failed. */
  async #writeTo(leader: number, records: readonly ClientRecord[], done: Set<string>): Promise<void> {
    const at = this.#cluster.node(leader);
    if (at === undefined) {
      return; // no leader at this moment
    }
    const { producerId, producerEpoch, transactionalId } = this.#identity;
    const sequences = { getWithDefault: (key: string, otherwise: number) => this.#sequenceOf(key) ?? otherwise };
    const options = { producerId, producerEpoch, sequences, transactionalId };
    // The client sets members of the records.
    const values = [ackOfAllReplicas, writeDeadlineMs / 2, records.map((record) => ({ ...record })), options];
    let answer: ProduceAnswer | undefined;
    try {
      answer = await this.#cluster.ask<ProduceAnswer>(at, "write", "Produce", values, writeDeadlineMs / 2);
    } catch (error) {
      answer = responseOf<ProduceAnswer>(error);
      if (answer === undefined || this.#note(answer, done)) {
        throw error;
      }
    }
    this.#note(answer, done);
  }

  /** Whether a partition of the answer has failed. */
  #note(answer: ProduceAnswer, done: Set<string>): boolean {
    let hasFailed = false;
    for (const { name, partitionResponses } of answer.responses) {
      for (const { index, errorCode } of partitionResponses) {
        if (errorCode === 0 || errorCode === codes.duplicateSequence) {
          done.add(placeOf(name, index));
        } else {
          hasFailed = true;
        }
      }
    }
    return hasFailed;
  }

  /** The client names a partition `topic:partition`. */
  #sequenceOf(key: string): number | undefined {
    const at = key.lastIndexOf(":");
    return this.#sequences.get(placeOf(key.slice(0, at), Number(key.slice(at + 1))));
  }

  /** As Java's producer and kafkajs choose it. */
  #partitionOf(key: Uint8Array, count: number): number {
    return (this.#cluster.module.murmur2(Buffer.from(key)) & 0x7fffffff) % count;
  }

  async #partitionsOf(topics: readonly string[]): Promise<ReadonlyMap<string, KnownPartitions>> {
    const answerDeadline = performance.now() + writeDeadlineMs;
    for (const deadline = performance.now() + missingDeadlineMs; ; ) {
      const metadata = await this.#metadata(topics, answerDeadline);
      const hidden = metadata.topics.flatMap(({ name, errorCode }) => (errorCode === codes.topicAuthorization ? (name ?? []) : []));
      if (hidden.length > 0) {
        const detail = `the brokers do not say whether there is a topic ${hidden.join(", ")}`;
        throw new PlatformaticDriverError("not-authorized", `${detail}. ${neededToWrite("topic", hidden, null)}`);
      }
      const known = new Map(metadata.topics.map(({ name, partitions }) => [name ?? "", knownPartitions(partitions)]));
      const missing = topics.filter((topic) => (known.get(topic) ?? nothing).count === 0);
      if (missing.length === 0) {
        return known;
      }
      if (performance.now() > deadline) {
        throw new PlatformaticDriverError("send-failed", `there is no topic ${missing.join(", ")}`);
      }
      await delay(pauseMs, undefined, { signal: this.#cluster.closed });
    }
  }

  #metadata(topics: readonly string[], deadline: number): Promise<MetadataAnswer> {
    const ended = this.#cluster.closed;
    return askAgain(() => this.#cluster.metadata(topics), { mayPass: isUnanswered, deadline, pauseMs, ended });
  }
}

/** The partitions of a topic. */
interface KnownPartitions {
  readonly count: number;
  /** Those that have a leader. */
  readonly led: readonly number[];
}

const nothing: KnownPartitions = Object.freeze({ count: 0, led: [] });

function knownPartitions(partitions: TopicMetadata["partitions"]): KnownPartitions {
  return { count: partitions.length, led: partitions.flatMap(({ partitionIndex, leaderId }) => (leaderId < 0 ? [] : partitionIndex)) };
}

/** Nobody was asked to write the records, because their partitions have no leaders: it is as if no broker could be reached. */
function noLeader([first]: readonly ClientRecord[]): PlatformaticDriverError {
  const place = `${first?.topic ?? ""}[${first?.partition ?? ""}]`;
  const detail = `no broker leads ${place}: those that have its replicas have been down for ${writeDeadlineMs} ms`;
  return new PlatformaticDriverError("send-failed", detail, { cause: new PlatformaticDriverError("brokers-unreachable", detail) });
}

/** The id of a transactional producer. What passes is the caller's to try again. */
export async function initTransactions(cluster: Cluster, transactionalId: string, timeoutMs: number): Promise<ProducerIdAnswer> {
  return askForId(cluster, await cluster.coordinator("transaction", transactionalId), [transactionalId, timeoutMs, -1n, -1]);
}

/** The id of a producer without a transactional id: it comes from any broker. */
export function initProducer(cluster: Cluster): Promise<ProducerIdAnswer> {
  const ask = (): Promise<ProducerIdAnswer> => cluster.anywhere((at) => askForId(cluster, at, [null, writeDeadlineMs, -1n, -1]));
  return askAgain(ask, {
    mayPass: (error) => isUnanswered(error) || hasCodeOf(error, passingWithoutId),
    deadline: performance.now() + writeDeadlineMs,
    pauseMs,
    ended: cluster.closed,
  });
}

function askForId(cluster: Cluster, at: HostAndPort, values: readonly unknown[]): Promise<ProducerIdAnswer> {
  return cluster.ask<ProducerIdAnswer>(at, "write", "InitProducerId", values, writeDeadlineMs / 2);
}

function byLeader(records: readonly ClientRecord[], { topics }: MetadataAnswer): ReadonlyMap<number, ClientRecord[]> {
  const leaders = new Map<string, number>();
  for (const { name, partitions } of topics) {
    for (const { partitionIndex, leaderId } of partitions) {
      leaders.set(placeOf(name ?? "", partitionIndex), leaderId);
    }
  }
  const found = new Map<number, ClientRecord[]>();
  for (const record of records) {
    const leader = leaders.get(placeOf(record.topic, record.partition)) ?? -1;
    listIn(found, leader).push(record);
  }
  return found;
}

/** The records that are written together: one batch for each partition, none too large. The others keep their order. */
function nextBatches(records: readonly ClientRecord[]): { readonly now: ClientRecord[]; readonly later: ClientRecord[] } {
  const bytes = new Map<string, number>();
  const now: ClientRecord[] = [];
  const later: ClientRecord[] = [];
  for (const record of records) {
    const place = placeOf(record.topic, record.partition);
    const before = bytes.get(place) ?? 0;
    const after = before + record.byteLength;
    bytes.set(place, after);
    (before === 0 || after <= maxBatchBytes ? now : later).push(record);
  }
  return { now, later };
}
