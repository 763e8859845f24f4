import type { OffsetCommit, PartitionAssignment } from "@cdckit/consumer";
import { Assignments, commitMetadata, type HeldPartition, type OwnAssignment, type Start } from "@cdckit/driver";
import type { Fetched } from "./fetched.ts";

/** A partition that this member holds, and the position at which kafkajs must go on. */
export interface Held extends HeldPartition<Fetched> {
  /** The offset that the next fetch must ask for; null until it is known. */
  expected: bigint | null;
  /** The group's commit as far as this member knows: the one that it found, or its own since; null if there is none. */
  reached: bigint | null;
  /** The number of fetches that have thrown, and how many of them were followed by a check of the topic, which may be another one since. */
  failedFetches: number;
  checkedFetches: number;
  /** The consumer is not ready for the next batch. Resolves when it is; never rejects. */
  atWork: Promise<void> | undefined;
  /** Nothing more is fetched of it until these batches are handed over. */
  isHeld: boolean;
  /** kafkajs has asked for an offset that is out of range. Nothing more is fetched of it until it is known what is lost. */
  isOutOfRange: boolean;
  /** When that was last. */
  outOfRangeMs: number;
  /** Its last batch took longer than kafkajs' loop waits for a batch. */
  isSlow: boolean;
}

/** The partitions of the current generation. kafkajs' assignments are eager: a rebalance takes all of them. */
export class HeldPartitions extends Assignments<Held> {
  /** Of those who wait for a start. A start may take days: who waits for it again and again must leave nothing behind in it. */
  readonly #waiters = new Set<() => void>();

  constructor() {
    super({
      hold: (held, old) => ({
        ...held,
        expected: null,
        reached: old?.reached ?? null,
        failedFetches: 0,
        checkedFetches: 0,
        atWork: undefined,
        isHeld: false,
        isOutOfRange: false,
        outOfRangeMs: 0,
        isSlow: false,
      }),
      positionOf: ({ expected }) => expected,
    });
  }

  /** The assignments of a new generation. Those of the last one are over. */
  renew(memberAssignment: Readonly<Record<string, readonly number[]>>): readonly OwnAssignment[] {
    this.clear();
    return this.add(
      Object.entries(memberAssignment).flatMap(([topic, partitions]) => partitions.map((partition) => ({ topic, partition }))),
    );
  }

  /** The partition starts here. One that this member has moved may have its next transaction before the new position is committed. */
  started(held: Held, { offset, committed = held.reached }: Start): void {
    held.expected = offset;
    held.reached = committed;
    held.committedTo = null;
    held.isStarting = false;
    this.#wake();
  }

  override release(gone: readonly Held[]): void {
    super.release(gone);
    this.#wake();
  }

  /** Resolves when the next partition has started or was given up, at the latest after this time. */
  untilStarted(deadlineMs: number): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        this.#waiters.delete(end);
        resolve();
      };
      const timer = setTimeout(end, deadlineMs);
      this.#waiters.add(end);
    });
  }

  #wake(): void {
    this.#waiters.forEach((end) => end());
  }

  /** A fetch has thrown. The topic of each partition is checked before its next batch is handed over. */
  recheckTopic(): void {
    for (const held of this.all()) {
      held.failedFetches++;
    }
  }

  override committed(offsets: readonly OffsetCommit[]): void {
    super.committed(offsets);
    for (const { assignment, offset } of offsets) {
      const held = this.held(assignment);
      if (held !== undefined && (held.reached === null || offset > held.reached)) {
        held.reached = offset;
      }
    }
  }

  /** The group's commit as far as this member knows; its own start if it knows of none, whose commit may be on its way; null before the start. */
  reachedOf(assignment: PartitionAssignment): bigint | null {
    const held = this.held(assignment);
    return held?.reached ?? held?.uncommittedStart ?? null;
  }
}

interface KafkaJsOffset {
  readonly partition: number;
  readonly offset: string;
  readonly metadata: string | null;
}

/** Offsets in kafkajs' form. */
export interface KafkaJsOffsets {
  topics: { topic: string; partitions: KafkaJsOffset[] }[];
}

/** Offsets in kafkajs' form, each with the id of its topic as metadata. */
export function toKafkaJsOffsets(offsets: readonly OffsetCommit[]): KafkaJsOffsets {
  const topics = new Map<string, KafkaJsOffset[]>();
  for (const { assignment, offset } of offsets) {
    const partitions = topics.get(assignment.topic) ?? [];
    partitions.push({ partition: assignment.partition, offset: String(offset), metadata: commitMetadata(assignment, offset) });
    topics.set(assignment.topic, partitions);
  }
  return { topics: [...topics].map(([topic, partitions]) => ({ topic, partitions })) };
}
