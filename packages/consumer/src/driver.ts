/**
 * The port to Kafka: what a driver hands over, and what it is asked for.
 *
 * It works in batches. A driver hands over what it fetched, and the records are walked in place. A client that has one object for each
 * record points the walk at its objects. A client that has the bytes of record batches points it into the bytes.
 */
import type { RecordBatch, RecordWalk } from "@cdckit/decode";
import type { Logger } from "./observe/logger.ts";
import type { OpenWait, WaitFor } from "./observe/waits.ts";

/**
 * One partition, for as long as this member holds it. If a partition is taken away and given back, that is a new assignment with a higher
 * epoch. Assignments are compared by identity: what still belongs to an old one can neither be handled nor committed.
 */
export interface PartitionAssignment {
  /** The name of the topic. */
  readonly topic: string;
  /** The number of the partition, from 0. */
  readonly partition: number;
  /** Higher than in every earlier assignment of this partition to this member. */
  readonly epoch: number;
  /**
   * The id of the topic. Kafka draws a new one if a topic is deleted and created again under its name. A position means nothing in another
   * topic. The driver knows the id before it asks `startAt`. Until then, and if the broker has no topic ids, it is null or absent.
   */
  readonly topicId?: string | null;
}

/**
 * Records of one partition that were fetched together, in offset order. A batch may have no records: if a fetch gave only control records
 * or gaps of compaction, its batch says how far the partition was read. Otherwise the partition would seem to lag for ever.
 */
export interface FetchedBatch extends RecordBatch {
  /** The assignment for which the batch was fetched. A batch of an assignment that is over is dropped. */
  readonly assignment: PartitionAssignment;
  /** Starts before the first record. Every call starts a new walk. */
  walk(): RecordWalk;
  /** How many records the walk will give, if that is known before it is walked. */
  readonly recordCount: number | null;
  /** How much memory the batch takes. It counts toward the limit on bytes in flight. */
  readonly byteLength: number;
  /**
   * What the batch took on the connection, before it was decompressed, if the event loop of this thread reads the connection: the consumer gives it
   * a turn whenever so much was handled that a broker may wait for it.
   * @default undefined: another thread reads the connection, or nothing is fetched while the batch is handled
   */
  readonly wireBytes?: number | undefined;
  /**
   * The offset to commit when every record is handled. It may be higher than the last offset + 1: compaction leaves gaps, and control
   * records and records of aborted transactions are never walked.
   */
  readonly nextOffset: bigint;
  /** The offset after the partition's last readable record, for lag. */
  readonly highWatermark: bigint | null;
}

/** What a consumer asks a driver to read, and how. */
export interface Subscription {
  /** The consumer group to join. */
  readonly groupId: string;
  /** Topic names, and regular expressions over topic names. */
  readonly topics: readonly (string | RegExp)[];
  /** Where a partition without a committed offset starts. It is not used if a committed offset is out of range: that is an error. */
  readonly from: StartPosition;
  /**
   * The user gave `from`. If not, it is the default, and nobody needs to be told that a commit comes first.
   * @default true
   */
  readonly isFromGiven?: boolean;
  /** Where the driver logs. Credentials and bytes of records are removed before a line reaches the application's logger. */
  readonly logger: Logger;
  /** Aborted when nobody waits for the connection any more. `connect` then gives up and rejects soon. */
  readonly signal?: AbortSignal;
  /**
   * Asks where partitions start whose position is kept outside the group, in the transaction of a sink. It is asked at each assignment,
   * after `assigned` and before a record is handed over. Partitions that the answer leaves out start at the group's commit, or as `from`
   * says. It never rejects.
   */
  readonly startAt?: (assignments: readonly PartitionAssignment[]) => Promise<readonly OffsetCommit[]>;
  /**
   * Where a partition goes on if the next record to read is gone, because retention deleted it or because the topic was deleted and created
   * again. This holds at the start and later. The choices: nowhere (the driver fails), the first offset that is there, or the end. If the
   * log ends before the position, that is an error with every choice, unless the topic id says that it is a new topic.
   * @default "halt"
   */
  readonly lostRange?: LostRangePolicy;
  /** Topics that are written to. If one does not exist, that is an error at the start, or the driver creates it, as the topic says. */
  readonly writesTo?: readonly WrittenTopic[];
}

/** A topic that is written to. */
export interface WrittenTopic {
  /** The name of the topic. */
  readonly topic: string;
  /** The option that names it, for messages. */
  readonly option: string;
  /** How the topic is created if it does not exist. Null: it is not created, and that is an error. */
  readonly create: TopicCreation | null;
}

/** How a topic is created. */
export interface TopicCreation {
  /**
   * How many partitions it gets.
   * @default the brokers' own default
   */
  readonly partitions?: number;
  /**
   * How many brokers have a copy of each partition.
   * @default the brokers' own default
   */
  readonly replicationFactor?: number;
}

/**
 * Where a partition starts: at the first record, after the last one, at the first record of this time (milliseconds since the epoch) or
 * later, or at an offset by topic and partition. An offset that the log does not have is a lost range. A partition that is not listed
 * starts at the first record.
 */
export type StartPosition =
  | "earliest"
  | "latest"
  | { readonly timestamp: bigint }
  | { readonly offsets: Readonly<Record<string, Readonly<Record<number, bigint>>>> };

/** What is done if retention deletes records before the group has handled them. */
export type LostRangePolicy = "halt" | "earliest" | "latest";

/** What a driver calls. None of these calls throws. */
export interface DriverSink {
  /** This member has these partitions from now on. Their batches may follow. */
  assigned(assignments: readonly PartitionAssignment[]): void;
  /**
   * The partition starts here: the driver has found out what the group has committed, or what `from` means now. Called after `assigned`, and
   * before a batch of the assignment is handed over. A driver that calls it has the capability `reportsStart`.
   */
  startsAt?(assignment: PartitionAssignment, offset: bigint): void;
  /**
   * These partitions are about to go (`"revoked"`), or are gone already (`"lost"`: nothing of them can be committed any more). The driver
   * gives a revoked partition up only after the promise has resolved. Until then the consumer handles what is in flight, and commits.
   */
  revoked(assignments: readonly PartitionAssignment[], how: "revoked" | "lost"): Promise<void>;
  /**
   * Takes a batch. If nothing is returned, the next batch of this partition may follow at once. If a promise is returned, the next batch
   * may follow after it has resolved. It never rejects, and may take for ever. It holds up this partition and no other. A next batch that
   * may follow does not mean that this one is handled: only `commit` says so.
   */
  batch(batch: FetchedBatch): Promise<void> | undefined;
  /**
   * The partition goes on after records that are gone, as {@link Subscription.lostRange} says. Called after `assigned`, after every batch that
   * was fetched before the range was handed over, and before a batch from there is. Only subscribers with a `lostRange` need it.
   */
  skipped?(assignment: PartitionAssignment, lost: LostRange, resumeOffset: bigint): void;
  /**
   * The driver waits for something that it cannot go on without: a connection, a join, a leader, the offset at which a partition starts. `health()` and the log report it until
   * the returned wait is ended. Each failed attempt is reported to the same wait. May be called from `connect` on.
   */
  waiting?(wait: WaitFor): OpenWait;
  /** The driver has ended connections on which nothing was answered, and opens new ones. `why`: a sentence without its full stop. */
  reconnected?(why: string): void;
  /**
   * The group has acknowledged this member: at a join, and with every heartbeat that succeeds. From now on the group keeps it for at least
   * so many milliseconds: the session timeout, less the time since the request was *sent*. If a frozen process reads an answer late, it is
   * valid for no time at all. When the time is over and no answer has followed, nothing is handed on until one does. A driver that never
   * calls this is trusted to hold its partitions until it says otherwise.
   *
   * `next` says by whom and how soon the next acknowledgement should come. If it does not, `health()` says so soon: a broker that stands still
   * answers nothing and closes no connection, so that a client finds out only when its requests time out.
   */
  acknowledged?(validForMs: number, next?: NextAcknowledgement): void;
  /**
   * The driver cannot go on by itself. No calls follow, and the consumer closes the session. If the `code` of the error is
   * `"offset-out-of-range"` or `"topic-recreated"`, its `lost` is a {@link LostRange}.
   */
  failed(error: Error): void;
}

/** When a driver expects the group to acknowledge its member again. */
export interface NextAcknowledgement {
  /** At the latest after so many milliseconds, if nothing is wrong: the time between two heartbeats, and what may hold one up. */
  readonly withinMs: number;
  /** Who gives it: the coordinator of the group as `host:port`, or the brokers. No credentials. */
  readonly host: string;
}

/** An offset that is safe to commit: every record below it is handled. */
export interface OffsetCommit {
  /** The partition. A commit for an assignment that is over is refused. */
  readonly assignment: PartitionAssignment;
  /** The next offset to read: one above the last record that is handled, or higher if nothing of ours is in between. */
  readonly offset: bigint;
  /**
   * In the answer of `startAt`: the id of the topic in which the position was reached. Null or absent if that is not known. A commit leaves
   * it out, because there the assignment's own id counts.
   */
  readonly topicId?: string | null;
}

/** A record to write, with the bytes that go to the broker. */
export interface OutgoingRecord {
  /** The topic that it is written to. */
  readonly topic: string;
  /** If it is absent, the client's own partitioner chooses by the key. */
  readonly partition?: number;
  /** The bytes of the key; null for none. */
  readonly key: Uint8Array | null;
  /** The bytes of the value; null makes a tombstone. */
  readonly value: Uint8Array | null;
  /** The headers in their order. A name may come several times. */
  readonly headers: readonly (readonly [name: string, value: Uint8Array | null])[];
  /** Milliseconds since the epoch. If it is absent, the time of sending. */
  readonly timestamp?: bigint;
}

/** What the broker has of a partition at this moment. */
export interface LogRange {
  /** The partition that was asked about. */
  readonly assignment: PartitionAssignment;
  /** The first offset that is still there. */
  readonly start: bigint;
  /** The offset after the last readable record. */
  readonly end: bigint;
  /** What the group has committed. Null if it has nothing, absent if the driver did not ask. */
  readonly committed?: bigint | null;
}

/**
 * A position that the log does not have: records are gone that this group has not handled. A driver goes on from there only if {@link
 * Subscription.lostRange} says where.
 */
export interface LostRange {
  /** The name of the topic. */
  readonly topic: string;
  /** The number of the partition, from 0. */
  readonly partition: number;
  /** The offset that was to be read next, and is not there. */
  readonly firstMissing: bigint;
  /**
   * The first offset that is there. If it is above `firstMissing`, retention deleted the records in between. If it is below, the topic was
   * truncated or recreated, and the offsets mean something else now.
   */
  readonly firstAvailable: bigint;
  /** The offset after the last readable record. */
  readonly end: bigint;
  /** The topic was deleted and created again. `firstMissing` is an offset of the old topic, the other two are of the new one. */
  readonly recreated?: RecreatedTopic;
}

/** The ids of a topic and of the one that has its name now. Null if that is not known. */
export interface RecreatedTopic {
  /** The id of the topic of which the position is. */
  readonly from: string | null;
  /** The id of the topic that has the name now. Null as well if the brokers have no topic ids. */
  readonly to: string | null;
}

/** A membership in the group, from `connect` to `close`. */
export interface DriverSession {
  /**
   * Commits. An entry is left out, without an error, if its assignment is not current any more, or if it is not above what this assignment
   * has committed already, by `commit` or by `transact`: no commit moves the group back. It may reject while it is not known whether the last
   * transaction of a partition was carried out. Commits and transactions are carried out in the order in which they are asked for. With {@link DriverCapabilities.topicIds}, a commit keeps the topic id of its assignment.
   */
  commit(offsets: readonly OffsetCommit[]): Promise<void>;
  /** No batch of these partitions is handed over until `resume`, except one that is already under way. */
  pause(assignments: readonly PartitionAssignment[]): void;
  /** Hands over batches of these partitions again. Does nothing for those that are not paused, or not current any more. */
  resume(assignments: readonly PartitionAssignment[]): void;
  /**
   * Goes on with a partition at another offset, as a new assignment with a higher epoch. Calls `assigned` before it returns, and hands over
   * the records from the offset on. The consumer has released the old assignment by then. Null if the old assignment is not current any
   * more: then nothing is moved. Absent if the client cannot move a partition.
   */
  seek?(assignment: PartitionAssignment, offset: bigint): PartitionAssignment | null;
  /** Writes, and resolves when every in-sync replica has every record. Absent if the client cannot write. */
  send?(records: readonly OutgoingRecord[]): Promise<void>;
  /**
   * Writes and commits in one Kafka transaction: both or neither. If an assignment is not current any more, it rejects and nothing is
   * written: a former owner must not write. It takes one assignment at a time, because that is what every client can fence. An error with
   * `code: "fenced"` says that another member has the partition: a retry cannot help. After any other error the same records and offsets may
   * be given again: if the last transaction was carried out, and its answer lost, it resolves and writes nothing. Absent if the client has no
   * transactions.
   */
  transact?(records: readonly OutgoingRecord[], offsets: readonly OffsetCommit[]): Promise<void>;
  /** Asks the brokers, on a connection that fetches do not use. Absent if the client cannot. */
  ranges?(assignments: readonly PartitionAssignment[]): Promise<readonly LogRange[]>;
  /**
   * Ends the connections and opens new ones, because nothing has moved for too long: a broken connection may swallow what is sent on it.
   * Absent if the driver does not own the client's connections. `why`: a sentence without its full stop.
   */
  reconnect?(why: string): void;
  /** Leaves the group and releases everything, within `deadlineMs`. Idempotent. No call to the consumer follows. Never rejects. */
  close(deadlineMs: number): Promise<void>;
}

/** What differs between clients and cannot be hidden. */
export interface DriverCapabilities {
  /** A commit can carry metadata. */
  readonly metadataCommit: boolean;
  /**
   * A position belongs to a topic id, if the broker has topic ids. An assignment carries its id, and a commit keeps it. A position of
   * another topic of the same name is a {@link LostRange} with `recreated`, at a start and while the partition is read. If a recreated
   * topic is read on, its partition is a new assignment.
   */
  readonly topicIds: boolean;
  /** A rebalance takes only the partitions that move. */
  readonly cooperative: boolean;
  /**
   * A rebalance waits for `revoked`, whatever the client is doing. Without this, it waits only for batches whose promise is pending: the
   * consumer then keeps the promise of each batch pending until the batch is handled, and takes nothing ahead.
   */
  readonly awaitsRevoked: boolean;
  /** The group protocol of KIP-848. */
  readonly kip848: boolean;
  /** Fetches are fenced by leader epoch, so a log that is truncated while it is read is noticed. */
  readonly leaderEpoch: boolean;
  /** Compressions that are read. */
  readonly codecs: readonly Compression[];
  /** The checksum of a record batch is checked. */
  readonly crc: boolean;
  /** An offset out of range is reported. It is not moved silently to the start or the end of the log. */
  readonly offsetResetNone: boolean;
  /**
   * {@link DriverSink.startsAt} is called for each assignment. A consumer that starts at the latest record is then not ready before.
   * @default false
   */
  readonly reportsStart?: boolean;
  /**
   * The driver takes an id of the member's own (`group.instance.id`). If a member with one comes back within its session, nothing is rebalanced.
   * @default false
   */
  readonly staticMembership?: boolean;
  /**
   * A header without a value is written and read as one. Without this, it is an empty one.
   * @default true
   */
  readonly nullHeaders?: boolean;
  /** Why the client lacks what it lacks: a sentence for each capability that is false, without its full stop. */
  readonly reasons?: Readonly<Partial<Record<CapabilityName, string>>>;
}

/** The capabilities that a client has or lacks. */
export type CapabilityName = Exclude<keyof DriverCapabilities, "codecs" | "reasons">;

/** How records are compressed that a driver writes. */
export type Compression = "none" | "gzip" | "snappy" | "lz4" | "zstd";

/** A Kafka client, seen through the port. */
export interface KafkaDriver {
  /** Its name in logs: `kafkajs`, `memory`. */
  readonly name: string;
  /** What the client can do, and what it cannot. */
  readonly capabilities: DriverCapabilities;
  /**
   * Joins the group. Rejects with an error that says in words what is wrong: brokers that cannot be reached, a topic that does not exist, a
   * committed offset that is out of range (as {@link DriverSink.failed} reports it). With a `startAt`, or with a `lostRange` other than
   * `"halt"`, an offset out of range is reported to `failed` instead, after `connect` has resolved. `assigned` and `batch` may be called
   * before the promise resolves.
   */
  connect(subscription: Subscription, sink: DriverSink): Promise<DriverSession>;
}
