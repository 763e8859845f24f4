import type { KafkaRecord, RecordHeaders } from "@cdckit/decode";
import { MemoryGroup } from "./memory-group.ts";

/** A record to append. What is left out is decided as a broker and a producer would. */
export interface AppendedRecord {
  readonly key?: Uint8Array | string | null;
  /** Null is a tombstone; an empty string or array is an empty value. */
  readonly value: Uint8Array | string | null;
  readonly headers?: RecordHeaders;
  /** Milliseconds since the epoch; 0 where it is left out, so that tests see the same records every time. */
  readonly timestamp?: bigint;
  /** By the key's hash where it is left out. */
  readonly partition?: number;
  /** A later offset than the next one leaves a gap, as compaction and transaction markers do. */
  readonly offset?: bigint;
}

/** A commit as the broker took it. */
export interface CommittedOffset {
  readonly groupId: string;
  readonly topic: string;
  readonly partition: number;
  readonly offset: bigint;
}

interface PartitionLog {
  readonly records: KafkaRecord[];
  nextOffset: bigint;
}

/** A Kafka broker in memory: topics, partitions, consumer groups with committed offsets. For tests and demonstrations. */
export class MemoryBroker {
  /** Every commit it took, in order. */
  readonly commits: CommittedOffset[] = [];
  readonly #topics = new Map<string, PartitionLog[]>();
  readonly #groups = new Map<string, MemoryGroup>();
  readonly #committed = new Map<string, bigint>();

  constructor(topics: Readonly<Record<string, number>> = {}) {
    for (const [name, partitions] of Object.entries(topics)) {
      this.createTopic(name, partitions);
    }
  }

  createTopic(name: string, partitions = 1): void {
    if (this.#topics.has(name)) {
      throw new RangeError(`topic ${name} exists already`);
    }
    if (!Number.isSafeInteger(partitions) || partitions < 1) {
      throw new RangeError(`topic ${name} needs at least one partition, got ${partitions}`);
    }
    this.#topics.set(
      name,
      Array.from({ length: partitions }, () => ({ records: [], nextOffset: 0n })),
    );
    for (const group of this.#groups.values()) {
      void group.rebalance();
    }
  }

  topics(): readonly string[] {
    return [...this.#topics.keys()];
  }

  partitions(topic: string): number {
    return this.#topic(topic).length;
  }

  /** Appends records, and returns them as they are stored. */
  append(topic: string, ...records: readonly AppendedRecord[]): readonly KafkaRecord[] {
    const stored = records.map((record) => this.#append(topic, record));
    for (const group of this.#groups.values()) {
      group.wake();
    }
    return stored;
  }

  /** The records from an offset on, at most `max`. */
  read(topic: string, partition: number, from: bigint, max: number): readonly KafkaRecord[] {
    const { records } = this.#log(topic, partition);
    const start = firstAtOrAfter(records, from);
    return records.slice(start, start + max);
  }

  /** The offset that the next record gets. */
  endOffset(topic: string, partition: number): bigint {
    return this.#log(topic, partition).nextOffset;
  }

  /** What the group has committed, or null. */
  committed(groupId: string, topic: string, partition: number): bigint | null {
    return this.#committed.get(commitKey(groupId, topic, partition)) ?? null;
  }

  commit(commit: CommittedOffset): void {
    this.#committed.set(commitKey(commit.groupId, commit.topic, commit.partition), commit.offset);
    this.commits.push(commit);
  }

  group(groupId: string): MemoryGroup {
    let group = this.#groups.get(groupId);
    if (group === undefined) {
      group = new MemoryGroup(this, groupId);
      this.#groups.set(groupId, group);
    }
    return group;
  }

  #append(topic: string, record: AppendedRecord): KafkaRecord {
    const key = bytesOf(record.key ?? null);
    const partition = record.partition ?? partitionFor(key, this.partitions(topic));
    const log = this.#log(topic, partition);
    const offset = record.offset ?? log.nextOffset;
    if (offset < log.nextOffset) {
      throw new RangeError(`${topic}[${partition}] is at offset ${log.nextOffset}, a record cannot get ${offset}`);
    }
    const stored: KafkaRecord = {
      topic,
      partition,
      offset,
      timestamp: record.timestamp ?? 0n,
      key,
      value: bytesOf(record.value),
      headers: record.headers ?? [],
    };
    log.records.push(stored);
    log.nextOffset = offset + 1n;
    return stored;
  }

  #topic(name: string): PartitionLog[] {
    const topic = this.#topics.get(name);
    if (topic === undefined) {
      throw new RangeError(`there is no topic ${name}; there are: ${this.topics().join(", ") || "none"}`);
    }
    return topic;
  }

  #log(topic: string, partition: number): PartitionLog {
    const log = this.#topic(topic)[partition];
    if (log === undefined) {
      throw new RangeError(`topic ${topic} has ${this.partitions(topic)} partitions, there is no ${partition}`);
    }
    return log;
  }
}

function commitKey(groupId: string, topic: string, partition: number): string {
  return `${groupId}\0${topic}\0${partition}`;
}

function bytesOf(value: Uint8Array | string | null): Uint8Array | null {
  return typeof value === "string" ? Buffer.from(value) : value;
}

/** FNV-1a: equal keys meet in one partition. Not Kafka's own partitioner. */
function partitionFor(key: Uint8Array | null, partitions: number): number {
  let hash = 0x811c9dc5;
  for (const byte of key ?? []) {
    hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  }
  return hash % partitions;
}

function firstAtOrAfter(records: readonly KafkaRecord[], offset: bigint): number {
  let low = 0;
  let high = records.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const record = records[middle];
    if (record !== undefined && record.offset < offset) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}
