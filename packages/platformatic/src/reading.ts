import type { DriverSink, Subscription } from "@cdckit/consumer";
import { isRead, PartitionWaits, type Place, quotaError, type TopicCheck } from "@cdckit/driver";
import type { Held, HeldPartitions } from "./assignments.ts";
import type { BrokerOffsets } from "./broker-offsets.ts";
import type { Cluster } from "./cluster.ts";
import { makeError } from "./errors.ts";
import { Fetcher } from "./fetcher.ts";
import { GoneTopics } from "./gone-topics.ts";
import { HandOver } from "./hand-over.ts";
import { Leaders } from "./leaders.ts";
import { errorName } from "./low-level-client.ts";
import type { ResolvedPlatformaticOptions } from "./options.ts";
import { PartitionReader } from "./partition-reader.ts";

export interface ReadingParts {
  readonly cluster: Cluster;
  readonly brokers: BrokerOffsets;
  readonly subscription: Subscription;
  readonly sink: DriverSink;
  readonly tuning: ResolvedPlatformaticOptions["tuning"];
  readonly assignments: HeldPartitions;
  readonly topicCheck: TopicCheck<Held>;
  /** A fetch was answered (`null`), or not. */
  readonly answered: (failure: unknown) => void;
  readonly fail: (error: unknown) => void;
  /** These topics are gone: what is held of them is given up. */
  readonly gone: (topics: readonly string[]) => void;
}

/** What reads the partitions: from the fetch to the consumer. */
export interface Reading {
  readonly leaders: Leaders;
  readonly fetcher: Fetcher;
  readonly handOver: HandOver;
}

/** Puts together what reads the partitions. Nothing is asked yet. */
export function createReading({
  cluster,
  brokers,
  subscription,
  sink,
  tuning,
  assignments,
  topicCheck,
  answered,
  fail,
  gone,
}: ReadingParts): Reading {
  const { logger } = subscription;
  const wake = (): void => fetcher.wake();
  const topics = (): readonly string[] => [...new Set(assignments.all().map(({ assignment }) => assignment.topic))];
  const leaderless = new PartitionWaits({ sink, what: "the leader", host: cluster.brokers });
  const goneTopics: GoneTopics = new GoneTopics();
  const found = (unknown: readonly string[]): void => {
    gone(goneTopics.note(unknown));
    const isLed = ({ topic, partition }: Place): boolean => leaders.of(topic, partition) !== undefined;
    leaderless.noteLeaders(assignments.all().filter(isRead), isLed, makeError);
    fetcher.forgetUnasked();
  };
  const leaders: Leaders = new Leaders({ cluster, topics, logger, maxAgeMs: tuning.metadataMaxAgeMs, found, refreshed: wake });
  const ready = (held: Held): void => handOver.goOn(held);
  const waits = new PartitionWaits({ sink, what: "a fetch", host: cluster.brokers });
  const nameOf = (code: number): string => errorName(cluster.module, code);
  const { decompression } = tuning;
  const reader = new PartitionReader({
    brokers,
    subscription,
    sink,
    leaders,
    topicCheck,
    decompression,
    waits,
    nameOf,
    ready,
    wake,
    fail,
  });
  const handOver = new HandOver({ sink, assignments, wake, unreadable: (held, error) => reader.unreadable(held, error) });
  const fetcher: Fetcher = new Fetcher({
    cluster,
    assignments,
    leaders,
    tuning,
    logger,
    take: (held, fetched, fromOffset) => reader.take(held, fetched, fromOffset),
    throttled: (held, throttleMs) => waits.failed(held, quotaError(makeError, held.assignment, throttleMs), throttleMs),
    otherTopic: () => void reader.recheck(),
    answered,
  });
  return { leaders, fetcher, handOver };
}
