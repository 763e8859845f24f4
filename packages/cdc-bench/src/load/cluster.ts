import { type Logger, silentLogger } from "@cdckit/consumer";
import { Kafka, logLevel, type Admin } from "kafkajs";
import { BenchError } from "../bench-error.ts";
import { commitOffsets } from "./commit-offsets.ts";
import { committedOffsets } from "./committed-offsets.ts";
import { type ClusterConnection, clientConfigOf, throwAwaySession } from "./connection.ts";
import { deleteGroup, groupDenied } from "./delete-group.ts";
import { explainRefusal } from "./explain-refusal.ts";
import { findHeldBack, type HeldBack } from "./held-back.ts";
import { highWatermarks } from "./high-watermarks.ts";
import { coordinatorNotFound, untilAnswered } from "./passing-answers.ts";
import { groupRefusal, topicRefusal } from "./refusals.ts";
import { unlessInterrupted } from "./unless-interrupted.ts";

const connectTimeoutMs = 3_000;
const requestTimeoutMs = 10_000;
/** A member that was stopped while it joined is remembered for a session. */
const memberDeadlineMs = throwAwaySession.sessionTimeoutMs + 5_000;

/** One partition as the brokers describe it. */
export interface PartitionExtent {
  readonly partition: number;
  readonly startOffset: bigint;
  /** The last stable offset: the one after the last record, or of the first record of an open transaction. */
  readonly endOffset: bigint;
}

export interface TopicExtent {
  readonly topic: string;
  readonly partitions: readonly PartitionExtent[];
  /** At most: compaction and transactions leave offsets without records. */
  readonly maxRecords: bigint;
}

/** A member of a consumer group, as the coordinator knows it. */
export interface GroupMember {
  readonly clientId: string;
  readonly host: string;
}

/** What is asked of a cluster beside reading it. */
export interface Cluster {
  /** The names of all topics. */
  topicNames(): Promise<readonly string[]>;
  /** How many partitions each topic has. */
  partitionCounts(): Promise<ReadonlyMap<string, number>>;
  /** Rejects with the right that is missing if the user may not see one of these topics, which is then missing in `topicNames`. */
  requireSeen(topics: readonly string[], rights: string): Promise<void>;
  /** Where topics start and end now. A topic that does not exist is an error with its name. */
  extentsOf(topics: readonly string[]): Promise<readonly TopicExtent[]>;
  /** What open transactions hold back behind the ends of these extents. Topics without one are left out. */
  heldBackOf(extents: readonly TopicExtent[]): Promise<readonly HeldBack[]>;
  /** The ends of the logs of topics with what open transactions have written, by topic and partition. */
  logEndsOf(topics: readonly string[]): Promise<ReadonlyMap<string, ReadonlyMap<number, bigint>>>;
  /** What a group has committed of a topic, by partition; those without a commit are left out. */
  committedOf(groupId: string, topic: string): Promise<ReadonlyMap<number, bigint>>;
  /** The topics of which a group has committed something. */
  committedTopicsOf(groupId: string): Promise<readonly string[]>;
  /** Who is in a group now. Null if that cannot be known: it is no group of the classic protocol, and kafkajs knows no other. */
  membersOf(groupId: string): Promise<readonly GroupMember[] | null>;
  /** By partition, the offset of the first record with this timestamp or a later one; the end of the log if there is none. */
  offsetsAt(topic: string, timestampMs: number): Promise<ReadonlyMap<number, bigint>>;
  /** Commits offsets for a group that nobody is in. False if somebody is: then nothing was committed. */
  commitOffsets(groupId: string, topic: string, offsets: ReadonlyMap<number, bigint>): Promise<boolean>;
  /** Removes a group of our own that nobody is in any more. If it stays because the login may not delete groups: a sentence about it. */
  forgetGroup(groupId: string): Promise<string | null>;
  /** What the cluster calls itself; null if it has no name. */
  clusterId(): Promise<string | null>;
  close(): Promise<void>;
}

/** What opening a cluster needs of the command that asks it. */
export interface ClusterWorld {
  /** Ends the waiting for brokers that have not answered. @default never */
  readonly interrupt?: AbortSignal;
  /** What the client logs to. @default nothing is logged */
  readonly logger?: Logger;
}

/**
 * Reaches the brokers, or fails with a sentence that names them and says what they want, also if they take a connection and answer nothing, as a
 * port of something else may. Rejects with the reason of an interrupt that comes before they have answered.
 */
export async function openCluster(
  connection: ClusterConnection,
  { interrupt, logger = silentLogger }: ClusterWorld = {},
): Promise<Cluster> {
  const kafka = new Kafka({
    clientId: "cdc-bench",
    ...clientConfigOf(connection),
    logLevel: logLevel.DEBUG,
    // Of use to those who ask for it: what a question fails of is said by the error.
    logCreator:
      () =>
      ({ namespace, log: { message, broker, error } }) =>
        logger.debug({ namespace, broker, error }, `kafkajs: ${message}`),
    connectionTimeout: connectTimeoutMs,
    requestTimeout: requestTimeoutMs,
    retry: { retries: 1, initialRetryTime: 100 },
  });
  const opening = openAdmin(kafka, connection);
  if (interrupt === undefined) {
    return opening;
  }
  try {
    return await unlessInterrupted(opening, interrupt);
  } catch (error) {
    opening.then((cluster) => cluster.close()).catch(() => {}); // too late, or it failed
    throw error;
  }
}

async function openAdmin(kafka: Kafka, connection: ClusterConnection): Promise<Cluster> {
  const admin = kafka.admin();
  try {
    await admin.connect();
  } catch (error) {
    throw await explainRefusal(connection, error);
  }
  const cluster = new AdminCluster(kafka, admin, connection);
  try {
    await cluster.clusterId();
    return cluster;
  } catch (error) {
    await cluster.close();
    throw error;
  }
}

/** Fails as {@link openCluster} does. */
export async function requireAnswer(connection: ClusterConnection, world: ClusterWorld): Promise<void> {
  const cluster = await openCluster(connection, world);
  await cluster.close();
}

/** A group of our own that nobody else can be in. */
export function throwAwayGroup(): string {
  return `cdc-bench-${process.pid}-${Math.random().toString(36).slice(2, 10)}`;
}

/** Where a topic starts and ends now. */
export async function extentOf(admin: Pick<Admin, "fetchTopicOffsets">, topic: string): Promise<TopicExtent> {
  const partitions = (await admin.fetchTopicOffsets(topic))
    .map(({ partition, low, high }) => ({ partition, startOffset: BigInt(low), endOffset: BigInt(high) }))
    .sort((a, b) => a.partition - b.partition);
  const maxRecords = partitions.reduce((sum, { startOffset, endOffset }) => sum + endOffset - startOffset, 0n);
  return { topic, partitions, maxRecords };
}

class AdminCluster implements Cluster {
  readonly #kafka: Kafka;
  readonly #admin: Admin;
  readonly #connection: ClusterConnection;

  constructor(kafka: Kafka, admin: Admin, connection: ClusterConnection) {
    this.#kafka = kafka;
    this.#admin = admin;
    this.#connection = connection;
  }

  async topicNames(): Promise<readonly string[]> {
    return this.#asked(() => this.#admin.listTopics());
  }

  async partitionCounts(): Promise<ReadonlyMap<string, number>> {
    const { topics } = await this.#asked(() => this.#admin.fetchTopicMetadata());
    return new Map(topics.map(({ name, partitions }) => [name, partitions.length]));
  }

  async extentsOf(topics: readonly string[]): Promise<readonly TopicExtent[]> {
    const existing = new Set(await this.topicNames());
    const missing = topics.filter((topic) => !existing.has(topic));
    if (missing.length > 0) {
      await this.requireSeen(missing, "Describe and Read");
      throw missingTopics(missing, existing);
    }
    return Promise.all(topics.map((topic) => this.#asked(() => extentOf(this.#admin, topic))));
  }

  async heldBackOf(extents: readonly TopicExtent[]): Promise<readonly HeldBack[]> {
    return findHeldBack(
      extents,
      (topics) => this.logEndsOf(topics),
      (topics) => this.extentsOf(topics),
    );
  }

  async logEndsOf(topics: readonly string[]): Promise<ReadonlyMap<string, ReadonlyMap<number, bigint>>> {
    return this.#asked(() => highWatermarks(this.#kafka, topics));
  }

  async committedOf(groupId: string, topic: string): Promise<ReadonlyMap<number, bigint>> {
    return this.#askedOf(groupId, () => committedOffsets(this.#admin, groupId, topic));
  }

  async committedTopicsOf(groupId: string): Promise<readonly string[]> {
    const found = await this.#askedOf(groupId, () => this.#admin.fetchOffsets({ groupId }));
    return found.filter(({ partitions }) => partitions.some(({ offset }) => offset !== "-1")).map(({ topic }) => topic);
  }

  async membersOf(groupId: string): Promise<readonly GroupMember[] | null> {
    const { groups } = await this.#askedOf(groupId, () => this.#admin.describeGroups([groupId]));
    const members = groups.flatMap((group) => group.members.map(({ clientId, clientHost }) => ({ clientId, host: clientHost })));
    // Of a group of another protocol, and of none at all, the brokers say the same. Only one of them is listed.
    const isDead = groups.some(({ state }) => state === "Dead");
    return isDead && (await this.#isListed(groupId)) ? null : members;
  }

  async offsetsAt(topic: string, timestampMs: number): Promise<ReadonlyMap<number, bigint>> {
    const found = await this.#asked(() => this.#admin.fetchTopicOffsetsByTimestamp(topic, timestampMs));
    return new Map(found.map(({ partition, offset }) => [partition, BigInt(offset)]));
  }

  async commitOffsets(groupId: string, topic: string, offsets: ReadonlyMap<number, bigint>): Promise<boolean> {
    return this.#askedOf(groupId, () => commitOffsets(this.#kafka, groupId, topic, offsets));
  }

  async forgetGroup(groupId: string): Promise<string | null> {
    // The group goes by itself after its retention; deleting it now is only tidy.
    const isDenied = (await deleteGroup(this.#admin, groupId, memberDeadlineMs)) === groupDenied;
    return isDenied
      ? "groups named cdc-bench-* stay until the brokers forget them: the login may not delete them, which takes Delete on the group"
      : null;
  }

  async clusterId(): Promise<string | null> {
    return (await this.#asked(() => this.#admin.describeCluster())).clusterId || null;
  }

  async close(): Promise<void> {
    await this.#admin.disconnect();
  }

  /** It is no mistake in the name of such a topic that is to be looked for. */
  async requireSeen(topics: readonly string[], rights: string): Promise<void> {
    for (const topic of topics) {
      const refusal = await topicRefusal(this.#kafka, topic);
      if (refusal !== null) {
        throw await explainRefusal(this.#connection, refusal, `it needs ${rights} on the topic ${topic}, if there is one`);
      }
    }
  }

  async #isListed(groupId: string): Promise<boolean> {
    const { groups } = await this.#asked(() => this.#admin.listGroups());
    return groups.some((group) => group.groupId === groupId);
  }

  /** Asks about a group, whose name is nobody's but the user's. */
  async #askedOf<T>(groupId: string, ask: () => Promise<T>): Promise<T> {
    const answered = async (): Promise<T> => {
      try {
        return await ask();
      } catch (error) {
        const isUnknown = error instanceof Error && error.name === coordinatorNotFound;
        throw (isUnknown ? await groupRefusal(this.#kafka, groupId) : null) ?? error;
      }
    };
    return this.#asked(answered, `it needs Describe on the group ${groupId}, and Read to commit for it`);
  }

  async #asked<T>(ask: () => Promise<T>, rights?: string): Promise<T> {
    try {
      return await untilAnswered(ask);
    } catch (error) {
      throw await explainRefusal(this.#connection, error, rights);
    }
  }
}

function missingTopics(missing: readonly string[], existing: ReadonlySet<string>): BenchError {
  const names = [...existing].filter((name) => !name.startsWith("__")).sort();
  const listed = names.length > 20 ? `${names.slice(0, 20).join(", ")} and ${names.length - 20} more` : names.join(", ");
  const there = names.length === 0 ? "The cluster has no topics." : `There are ${listed}.`;
  const what = missing.length === 1 ? "there is no topic" : "there are no topics";
  return new BenchError("too-few-messages", `${what} ${missing.join(", ")}. ${there}`);
}
