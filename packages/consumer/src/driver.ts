/**
 * The port to Kafka: what a driver hands over and what it is asked for.
 *
 * It is batch-oriented. A driver hands over what it fetched, and the records are walked in place: a client that has an object a record
 * points the walk at its objects, a client that has the bytes of record batches points it into the bytes.
 */
import type { RecordBatch, RecordWalk } from "@cdckit/decode";
import type { Logger } from "./observe/logger.ts";
import type { OpenWait, WaitFor } from "./observe/waits.ts";

/**
 * One partition, for as long as this member holds it. A partition that is taken away and given back is a new assignment with a higher
 * epoch. Assignments are compared by identity: whatever still belongs to an old one can neither be handled nor committed.
 */
export interface PartitionAssignment {
  readonly topic: string;
  readonly partition: number;
  readonly epoch: number;
  /**
   * The id of the topic, which Kafka draws anew when a topic is deleted and created again under its name: a position means nothing in
   * another topic. The driver knows it before it asks `startAt`; it is null or absent until then, and if the broker has no topic ids.
   */
  readonly topicId?: string | null;
}

/**
 * Records of one partition that were fetched together, in offset order. There may be none: where nothing but control records or holes of
 * compaction was fetched, the batch says how far the partition was read, or its lag would never end.
 */
export interface FetchedBatch extends RecordBatch {
  readonly assignment: PartitionAssignment;
  /** Starts before the first record; every call starts a walk of its own. */
  walk(): RecordWalk;
  /** How many records the walk will give, where that is known before it is walked. */
  readonly recordCount: number | null;
  /** What the batch holds in memory, for the bound on bytes in flight. */
  readonly byteLength: number;
  /**
   * The offset to commit when every record is handled. Not always the last offset + 1: compaction leaves gaps, and control records and
   * records of aborted transactions are never walked.
   */
  readonly nextOffset: bigint;
  /** The offset after the partition's last readable record, for lag. */
  readonly highWatermark: bigint | null;
}

export interface Subscription {
  readonly groupId: string;
  /** Topic names, and regular expressions over topic names. */
  readonly topics: readonly (string | RegExp)[];
  /** Where a partition without a committed offset starts. Never where a committed offset is out of range: that is an error. */
  readonly from: StartPosition;
  readonly logger: Logger;
  /** Aborted when nobody waits for the connection any more: `connect` then gives up and rejects soon. */
  readonly signal?: AbortSignal;
  /**
   * Asked at each assignment, after `assigned` and before a record of it is handed over: where partitions start whose position is kept
   * elsewhere, in the transaction of a sink. What is left out starts at the group's commit, or else where `from` says. It never rejects.
   */
  readonly startAt?: (assignments: readonly PartitionAssignment[]) => Promise<readonly OffsetCommit[]>;
  /**
   * Where a partition goes on when what it was to read next is gone, because retention has taken it or because the topic was deleted and
   * created again, at its start and while it is read: nowhere (the driver fails), at the first offset that is there, or at the end. A log
   * that ends before the position is an error whatever is said here, unless its topic id tells that it is a new topic.
   * @default "halt"
   */
  readonly lostRange?: LostRangePolicy;
  /** Topics that are written to. One that does not exist is an error at the start, or is created where that is asked for. */
  readonly writesTo?: readonly WrittenTopic[];
}

/** A topic that is written to. */
export interface WrittenTopic {
  readonly topic: string;
  /** The option that names it, for messages. */
  readonly option: string;
  /** How it is created where it does not exist; null: it is not, and that is an error. */
  readonly create: TopicCreation | null;
}

/** How a topic is created. */
export interface TopicCreation {
  /** @default the brokers' own default */
  readonly partitions?: number;
  /** @default the brokers' own default */
  readonly replicationFactor?: number;
}

/**
 * Where a partition starts: at the first record, behind the last, at the first record of this time (milliseconds since the epoch) or later,
 * or at an offset by topic and partition. An offset that the log does not have is a lost range; a partition without one starts at the first
 * record.
 */
export type StartPosition =
  | "earliest"
  | "latest"
  | { readonly timestamp: bigint }
  | { readonly offsets: Readonly<Record<string, Readonly<Record<number, bigint>>>> };

/** What is done where retention was faster than the group. */
export type LostRangePolicy = "halt" | "earliest" | "latest";

/** What a driver calls. None of these throws. */
export interface DriverSink {
  /** These partitions are this member's from now on; their batches may follow. */
  assigned(assignments: readonly PartitionAssignment[]): void;
  /**
   * These partitions are about to go (`"revoked"`) or are gone already (`"lost"`: nothing of them can be committed any more). The driver
   * gives a revoked partition up only after the promise has resolved: until then the consumer handles what is in flight, and commits.
   */
  revoked(assignments: readonly PartitionAssignment[], how: "revoked" | "lost"): Promise<void>;
  /**
   * Takes a batch. Nothing returned: ready for the next one of this partition. A promise: not before it resolves (it never rejects). It may
   * take for ever, and holds up this partition and no other. That the next batch may come does not mean that this one is handled: only
   * `commit` says so.
   */
  batch(batch: FetchedBatch): Promise<void> | undefined;
  /**
   * The partition goes on after records that are gone, as {@link Subscription.lostRange} has it. Told after `assigned`, and before a batch
   * from there is handed over. Needed only by those who subscribe with a `lostRange`.
   */
  skipped?(assignment: PartitionAssignment, lost: LostRange, resumeOffset: bigint): void;
  /**
   * The driver waits for something that it cannot go on without: a connection, a join, a position. `health()` and the log tell of it until
   * the returned wait is ended; each failed attempt is told to it, so that it stays one wait. May be called from `connect` on.
   */
  waiting?(wait: WaitFor): OpenWait;
  /** The driver has ended connections on which nothing was answered, and makes new ones. `why`: a sentence without its full stop. */
  reconnected?(why: string): void;
  /**
   * The group has acknowledged this member: at a join, and with every heartbeat that is answered well. From now on the group keeps it for so
   * many milliseconds at least: the session timeout, less the time since the request was *sent*. An answer that a frozen process reads late
   * holds for no time at all. When the time is over without another word, nothing is handed on until there is one. A driver that never
   * tells is taken to hold its partitions until it says otherwise.
   */
  acknowledged?(validForMs: number): void;
  /**
   * The driver cannot go on by itself. No calls follow; the consumer closes the session. An error whose `code` is `"offset-out-of-range"`
   * or `"topic-recreated"` has a {@link LostRange} as `lost`.
   */
  failed(error: Error): void;
}

/** An offset that is safe to commit: every record below it is handled. */
export interface OffsetCommit {
  readonly assignment: PartitionAssignment;
  readonly offset: bigint;
  /**
   * In what `startAt` resolves with: the id of the topic in which the position was reached, null or absent if that is not known. In a commit
   * it is left out: there the assignment's own id counts.
   */
  readonly topicId?: string | null;
}

/** A record to write, in the bytes that go to the broker. */
export interface OutgoingRecord {
  readonly topic: string;
  /** Without one, the client's own partitioner chooses by the key. */
  readonly partition?: number;
  readonly key: Uint8Array | null;
  readonly value: Uint8Array | null;
  readonly headers: readonly (readonly [name: string, value: Uint8Array | null])[];
  /** Milliseconds since the epoch; the moment of sending without one. */
  readonly timestamp?: bigint;
}

/** What of a partition the broker has at this moment. */
export interface LogRange {
  readonly assignment: PartitionAssignment;
  /** The first offset that is still there. */
  readonly start: bigint;
  /** The offset after the last readable record. */
  readonly end: bigint;
  /** What the group has committed; null where it has nothing, absent where the driver did not ask. */
  readonly committed?: bigint | null;
}

/**
 * A position that the log does not have: records are gone that this group has not handled. No driver goes on by itself there, unless
 * {@link Subscription.lostRange} says where.
 */
export interface LostRange {
  readonly topic: string;
  readonly partition: number;
  /** The offset that was to be read next, and is not there. */
  readonly firstMissing: bigint;
  /**
   * The first offset that is there. Above `firstMissing`, retention took what lies between; below it, the topic was truncated or made
   * anew, and what the offsets mean has changed.
   */
  readonly firstAvailable: bigint;
  /** The offset after the last readable record. */
  readonly end: bigint;
  /** The topic was deleted and created again: `firstMissing` is an offset of the old topic, the other two are of the new one. */
  readonly recreated?: RecreatedTopic;
}

/** The ids of a topic and of the one that has its name now; null if that is not known. */
export interface RecreatedTopic {
  readonly from: string | null;
  readonly to: string | null;
}

/** A membership in the group, from `connect` to `close`. */
export interface DriverSession {
  /**
   * Commits. An entry whose assignment is not current any more is left out, without an error, and so is one that is not above what this
   * assignment has committed already, by `commit` or by `transact`: no commit moves the group back. Commits and transactions are carried
   * out in the order in which they are asked for. With {@link DriverCapabilities.topicIds}, a commit keeps the topic id of its assignment.
   */
  commit(offsets: readonly OffsetCommit[]): Promise<void>;
  /** No batch of these partitions is handed over until `resume`, save one that is already under way. */
  pause(assignments: readonly PartitionAssignment[]): void;
  resume(assignments: readonly PartitionAssignment[]): void;
  /**
   * Goes on with a partition at another offset, as a new assignment with a higher epoch: tells `assigned` of it before it returns, and hands
   * over what lies from the offset on. The sink has let go of the old assignment by then. Null where that is not current any more: then
   * nothing is moved. Absent where the client cannot.
   */
  seek?(assignment: PartitionAssignment, offset: bigint): PartitionAssignment | null;
  /** Writes, and resolves when every in-sync replica has every record. Absent where the client cannot write. */
  send?(records: readonly OutgoingRecord[]): Promise<void>;
  /**
   * Writes and commits in one Kafka transaction: both or neither. Where an assignment is not current any more it rejects, and nothing is
   * written: a record of an old owner must not come out. One assignment at a time, because that is what every client can fence. An error
   * with `code: "fenced"` says that another member has the partition: trying again cannot help. Absent where the client has no
   * transactions.
   */
  transact?(records: readonly OutgoingRecord[], offsets: readonly OffsetCommit[]): Promise<void>;
  /** Asks the brokers, on a connection that fetches do not use. Absent where the client cannot. */
  ranges?(assignments: readonly PartitionAssignment[]): Promise<readonly LogRange[]>;
  /**
   * Ends the connections and makes new ones, because nothing has moved for too long: what is sent on them may be swallowed. Absent where
   * the client's connections are not the driver's. `why`: a sentence without its full stop.
   */
  reconnect?(why: string): void;
  /** Leaves the group and lets go of everything, at the latest after `deadlineMs`. Idempotent; no sink call follows. Never rejects. */
  close(deadlineMs: number): Promise<void>;
}

/** What differs between clients and cannot be hidden. */
export interface DriverCapabilities {
  /** A commit can carry metadata. */
  readonly metadataCommit: boolean;
  /**
   * A position belongs to a topic id if the broker has topic ids: an assignment carries its id, a commit keeps it, and a position of another
   * topic of the same name is a {@link LostRange} with `recreated`, at a start and while the partition is read. A partition whose recreated
   * topic is read on becomes a new assignment.
   */
  readonly topicIds: boolean;
  /** A rebalance takes only the partitions that move. */
  readonly cooperative: boolean;
  /**
   * A rebalance waits for `revoked`, whatever the client is doing. Where it does not, it waits only for the batches whose promise is
   * pending: the consumer then holds each of them until it is handled, and takes nothing ahead.
   */
  readonly awaitsRevoked: boolean;
  /** The group protocol of KIP-848. */
  readonly kip848: boolean;
  /** Fetches are fenced by leader epoch, so a truncated log is noticed. */
  readonly leaderEpoch: boolean;
  /** Compressions that are read. */
  readonly codecs: readonly Compression[];
  /** The checksum of a record batch is checked. */
  readonly crc: boolean;
  /** An offset out of range is reported, and not silently moved to the start or the end of the log. */
  readonly offsetResetNone: boolean;
}

export type Compression = "none" | "gzip" | "snappy" | "lz4" | "zstd";

/** A Kafka client, seen through the port. */
export interface KafkaDriver {
  /** As it appears in logs: `kafkajs`, `memory`. */
  readonly name: string;
  readonly capabilities: DriverCapabilities;
  /**
   * Joins the group. Rejects with an error that says in words what is wrong: brokers that cannot be reached, a topic that does not exist,
   * a committed offset that is out of range (as {@link DriverSink.failed} tells it; with a `startAt` it is told there, after the answer,
   * and so it is with a `lostRange` other than `"halt"`).
   * `assigned` and `batch` may be called before the promise resolves.
   */
  connect(subscription: Subscription, sink: DriverSink): Promise<DriverSession>;
}
