import { type Clock, systemClock } from "@cdckit/consumer";
import type { KafkaRecord } from "@cdckit/decode";
import { MemoryFaults } from "./memory-faults.ts";
import { MemoryGroup } from "./memory-group.ts";
import type { MemoryMember } from "./memory-member.ts";
import { MemoryLog } from "./memory-log.ts";
import { MemoryTransaction } from "./memory-transaction.ts";
import { checkOptionNames } from "./option-names.ts";
import { bindMethods } from "./bind-methods.ts";
import { bytesOf, type WrittenBytes } from "./written-bytes.ts";

/** A record to append. What is left out is decided as a broker and a producer would. */
export interface AppendedRecord {
  /** The key, as bytes in one of the written forms. Without it, the record has none. */
  readonly key?: WrittenBytes | null;
  /** The value, as bytes in one of the written forms. Null is a tombstone; an empty string or array is an empty value. */
  readonly value: WrittenBytes | null;
  /** The headers in their order. Without it, the record has none. */
  readonly headers?: readonly (readonly [name: string, value: WrittenBytes | null])[];
  /** Milliseconds since the epoch; 0 if it is left out, so that tests see the same records every time. */
  readonly timestamp?: bigint | number;
  /** By the key's hash if it is left out. */
  readonly partition?: number;
  /** A later offset than the next one leaves a gap, as compaction and transaction markers do. */
  readonly offset?: bigint | number;
}

/** A commit as the broker took it. */
export interface CommittedOffset {
  /** The group that committed. */
  readonly groupId: string;
  /** The name of the topic. */
  readonly topic: string;
  /** The number of the partition, from 0. */
  readonly partition: number;
  /** The next offset that the group would read. */
  readonly offset: bigint;
  /** The topic id that the commit's metadata tells. Like Kafka, the broker takes a commit by the topic's name, and does not compare. */
  readonly topicId?: string | null;
}

/** How a broker in memory behaves: its clock, its rebalances, its sessions. */
export interface MemoryBrokerOptions {
  /**
   * What its turns and delays go through. With a `virtualClock` a test runs in no time, and each run alike.
   * @default systemClock
   */
  readonly clock?: Clock;
  /**
   * Whether a rebalance takes only the partitions that move, or all of them from everybody, as kafkajs' does.
   * @default "cooperative"
   */
  readonly rebalance?: "cooperative" | "eager";
  /**
   * How long a rebalance waits for members to finish what they handle; then their partitions go without it.
   * @default Infinity
   */
  readonly rebalanceTimeoutMs?: number;
  /**
   * A member that is not heard of for so long is taken out of its group. Members beat three times as often. With `Infinity` nobody beats, and
   * members have no lease.
   * @default Infinity
   */
  readonly sessionTimeoutMs?: number;
}

/** A new option does not compile without a name here. */
const optionNames: Readonly<Record<keyof MemoryBrokerOptions, true>> = {
  clock: true,
  rebalance: true,
  rebalanceTimeoutMs: true,
  sessionTimeoutMs: true,
};

function checkOptions(options: MemoryBrokerOptions): void {
  checkOptionNames("MemoryBroker", options, optionNames);
  const { rebalance = "cooperative" } = options;
  if (rebalance !== "cooperative" && rebalance !== "eager") {
    throw new RangeError(`expected rebalance to be "cooperative" or "eager", found ${String(rebalance)}`);
  }
}

/**
 * A Kafka broker in memory: topics, partitions, consumer groups with committed offsets, transactions, retention, and every fault that a
 * test asks for. For tests and demonstrations.
 */
export class MemoryBroker {
  /** Every commit it took, in order. */
  readonly commits: CommittedOffset[] = [];
  /** What goes wrong. */
  readonly faults: MemoryFaults;
  /** Where the broker's time comes from. */
  readonly clock: Clock;
  /** Whether a rebalance takes only what moves, or everything from everybody. */
  readonly rebalance: "cooperative" | "eager";
  /** How long a rebalance waits for a member to let go, in milliseconds. `Infinity` without the option. */
  readonly rebalanceTimeoutMs: number;
  /** After how many milliseconds without a heartbeat a member is put out. `Infinity` without the option. */
  readonly sessionTimeoutMs: number;
  readonly #topics = new Map<string, MemoryTopic>();
  #topicsCreated = 0;
  readonly #groups = new Map<string, MemoryGroup>();
  readonly #committed = new Map<string, CommittedOffset>();

  constructor(topics: Readonly<Record<string, number>> = {}, options: MemoryBrokerOptions = {}) {
    checkOptions(options);
    this.clock = options.clock ?? systemClock;
    this.faults = new MemoryFaults(this.clock);
    this.rebalance = options.rebalance ?? "cooperative";
    this.rebalanceTimeoutMs = options.rebalanceTimeoutMs ?? Infinity;
    this.sessionTimeoutMs = options.sessionTimeoutMs ?? Infinity;
    for (const [name, partitions] of Object.entries(topics)) {
      this.createTopic(name, partitions);
    }
    bindMethods(this);
  }

  /** Makes a topic with a new id. Throws if there is one of the name. */
  createTopic(name: string, partitions = 1): void {
    if (this.#topics.has(name)) {
      throw new RangeError(`topic ${name} exists already`);
    }
    if (!Number.isSafeInteger(partitions) || partitions < 1) {
      throw new RangeError(`topic ${name} needs at least one partition, got ${partitions}`);
    }
    this.#add(name, partitions);
    this.#rebalanceGroups();
  }

  /** The partitions are lost to whoever holds them, and the groups' commits go with them, as Kafka's do. */
  deleteTopic(name: string, { keepCommits = false }: { readonly keepCommits?: boolean } = {}): void {
    this.#remove(name, keepCommits);
    for (const group of this.#groups.values()) {
      void group.forget(name);
    }
  }

  /**
   * Deletes the topic and creates it again before any member hears of it: each still holds its partitions, and its next fetch and its next
   * commit are of the new topic. The groups' commits go, and a commit that is under way or is retried comes to the new topic.
   */
  recreateTopic(name: string, partitions: number = this.partitions(name)): void {
    this.#remove(name, false);
    this.#add(name, partitions);
    this.wake();
  }

  /** The id that the topic has; one that is created again under its name has a new one. */
  topicId(name: string): string {
    return this.#topic(name).id;
  }

  /** Makes the topic longer: `partitions` in all. */
  addPartitions(name: string, partitions: number): void {
    const { logs } = this.#topic(name);
    if (partitions <= logs.length) {
      throw new RangeError(`topic ${name} has ${logs.length} partitions, it cannot get ${partitions}`);
    }
    while (logs.length < partitions) {
      logs.push(new MemoryLog());
    }
    this.#rebalanceGroups();
  }

  /** The names of all topics. */
  topics(): readonly string[] {
    return [...this.#topics.keys()];
  }

  /** How many partitions a topic has. Throws if there is no such topic. */
  partitions(topic: string): number {
    return this.#topic(topic).logs.length;
  }

  /** Appends records, and returns them as they are stored. */
  append(topic: string, ...records: readonly AppendedRecord[]): readonly KafkaRecord[] {
    const stored = records.map((record) => this.store(topic, record));
    this.wake();
    return stored;
  }

  /** Opens a transaction. What it appends is read once it is committed. */
  transaction(): MemoryTransaction {
    return new MemoryTransaction(this);
  }

  /** As retention does: everything before the offset goes. */
  deleteBefore(topic: string, partition: number, offset: bigint): void {
    this.log(topic, partition).deleteBefore(offset);
    this.wake();
  }

  /** As an unclean leader election does: the log ends at the offset. */
  truncateTo(topic: string, partition: number, offset: bigint): void {
    this.log(topic, partition).truncateTo(offset);
    this.wake();
  }

  /** As compaction does in the end: the last record of each key stays, at its offset. Records without a key go. */
  compact(topic: string, partition: number): void {
    this.log(topic, partition).compact();
  }

  /** The committed records from an offset on, at most `max`. */
  read(topic: string, partition: number, from: bigint, max: number): readonly KafkaRecord[] {
    return this.log(topic, partition).read(from, max).records;
  }

  /** The offset that the next record gets. */
  endOffset(topic: string, partition: number): bigint {
    return this.log(topic, partition).end;
  }

  /** The log of a partition. Throws if there is no such partition. */
  log(topic: string, partition: number): MemoryLog {
    const log = this.#topic(topic).logs[partition];
    if (log === undefined) {
      throw new RangeError(`topic ${topic} has ${this.partitions(topic)} partitions, there is no ${partition}`);
    }
    return log;
  }

  /** Whether the partition exists. */
  hasPartition(topic: string, partition: number): boolean {
    return this.#topics.get(topic)?.logs[partition] !== undefined;
  }

  /** What the group has committed, or null. */
  committed(groupId: string, topic: string, partition: number): bigint | null {
    return this.commitOf(groupId, topic, partition)?.offset ?? null;
  }

  /** The same with what it was committed with. */
  commitOf(groupId: string, topic: string, partition: number): CommittedOffset | null {
    return this.#committed.get(commitKey(groupId, topic, partition)) ?? null;
  }

  /** Takes a commit as it comes; a test may watch it by overriding. */
  commit(commit: CommittedOffset): void {
    this.#committed.set(commitKey(commit.groupId, commit.topic, commit.partition), commit);
    this.commits.push(commit);
  }

  /** A member's session has run out; a test may watch it by overriding. */
  sessionOver(_member: MemoryMember): void {}

  /** The group of this name, which is made if nobody has joined it yet. */
  group(groupId: string): MemoryGroup {
    let group = this.#groups.get(groupId);
    if (group === undefined) {
      group = new MemoryGroup(this, groupId);
      this.#groups.set(groupId, group);
    }
    return group;
  }

  /** Stores one record, and wakes nobody. */
  store(topic: string, record: AppendedRecord, transaction?: MemoryTransaction): KafkaRecord {
    const key = bytesOf(record.key ?? null);
    const partition = record.partition ?? partitionFor(key, this.partitions(topic));
    const log = this.log(topic, partition);
    const offset = BigInt(record.offset ?? log.end);
    if (offset < log.end) {
      throw new RangeError(`${topic}[${partition}] is at offset ${log.end}, a record cannot get ${offset}`);
    }
    const stored: KafkaRecord = {
      topic,
      partition,
      offset,
      timestamp: BigInt(record.timestamp ?? 0n),
      key,
      value: bytesOf(record.value),
      headers: (record.headers ?? []).map(([name, value]) => [name, bytesOf(value)] as const),
    };
    log.append(stored, transaction);
    return stored;
  }

  /** There may be something to fetch. */
  wake(): void {
    for (const group of this.#groups.values()) {
      group.wake();
    }
  }

  #rebalanceGroups(): void {
    for (const group of this.#groups.values()) {
      void group.rebalance();
    }
  }

  #add(name: string, partitions: number): void {
    const logs = Array.from({ length: partitions }, () => new MemoryLog());
    this.#topics.set(name, { id: `topic-${++this.#topicsCreated}`, logs });
  }

  #remove(name: string, keepCommits: boolean): void {
    this.#topic(name);
    this.#topics.delete(name);
    for (const [key, { topic }] of keepCommits ? [] : this.#committed) {
      if (topic === name) {
        this.#committed.delete(key);
      }
    }
  }

  #topic(name: string): MemoryTopic {
    const topic = this.#topics.get(name);
    if (topic === undefined) {
      throw new RangeError(`there is no topic ${name}; there are: ${this.topics().join(", ") || "none"}`);
    }
    return topic;
  }
}

interface MemoryTopic {
  readonly id: string;
  readonly logs: MemoryLog[];
}

function commitKey(groupId: string, topic: string, partition: number): string {
  return `${groupId}\0${topic}\0${partition}`;
}

/** FNV-1a: equal keys meet in one partition. Not Kafka's own partitioner. */
function partitionFor(key: Uint8Array | null, partitions: number): number {
  let hash = 0x811c9dc5;
  for (const byte of key ?? []) {
    hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  }
  return hash % partitions;
}
