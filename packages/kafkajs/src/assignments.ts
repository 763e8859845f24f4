import type { OffsetCommit, PartitionAssignment } from "@cdckit/consumer";
import { commitMetadata } from "./commit-metadata.ts";
import type { Position } from "./lost-range.ts";
import type { MessageBatch } from "./message-batch.ts";

/** An assignment of this driver. The topic's id becomes known when the partition starts. */
export interface OwnAssignment extends PartitionAssignment {
  topicId: string | null;
}

/** A partition that this member holds, and the position at which kafkajs must go on. */
export interface Held {
  readonly assignment: OwnAssignment;
  /** The offset that the next fetch must ask for; null until it is known. */
  expected: bigint | null;
  /** The group's commit as far as this member knows: the one that it found, or its own since; null if there is none. */
  reached: bigint | null;
  /** The highest offset that this assignment has committed; null before the first commit. */
  committedTo: bigint | null;
  /** The highest offset below which everything is known to be handled: the start, or what the consumer has asked to commit since. */
  handledTo: bigint | null;
  /** Its start is not known yet. Nothing of it is handed over until then. */
  isStarting: boolean;
  /** Resolves when the start is known, or when nobody needs it any more. Never rejects. */
  start: Promise<void>;
  /** The consumer has paused it. */
  isPaused: boolean;
  /** The number of fetches that have thrown, and how many of them were followed by a check of the topic, which may be another one since. */
  failedFetches: number;
  checkedFetches: number;
  /** The gap before a batch that `eachBatch` never sees is being checked. Never rejects. */
  gapCheck: Promise<void> | undefined;
  /** It is about to be given up: nothing more of it is handed over. */
  isGoing: boolean;
  /** It was given up, or the session has ended. `whileHeld` then ends the work that is under way for it. */
  isOver: boolean;
  /** The consumer is not ready for the next batch. Resolves when it is; never rejects. */
  atWork: Promise<void> | undefined;
  /** Batches that were fetched while the consumer was not ready. */
  readonly ahead: MessageBatch[];
  /** Nothing more is fetched of it until these batches are handed over. */
  isHeld: boolean;
  /** Its last batch took longer than kafkajs' loop waits for a batch. */
  isSlow: boolean;
}

/** The partitions of the current generation. kafkajs' assignments are eager: a rebalance takes all of them. */
export class Assignments {
  readonly #held = new Map<string, Held>();
  /** The position of this member when it gave a partition up, with the id of the topic. */
  readonly #readBefore = new Map<string, Position>();
  #epoch = 0;

  current(): readonly OwnAssignment[] {
    return [...this.#held.values()].map(({ assignment }) => assignment);
  }

  all(): readonly Held[] {
    return [...this.#held.values()];
  }

  /** All partitions are about to be given up. Nothing more of them is handed over. */
  announceRelease(): void {
    for (const held of this.#held.values()) {
      held.isGoing = true;
      held.ahead.length = 0;
    }
  }

  of(topic: string, partition: number): OwnAssignment | undefined {
    return this.#held.get(keyOf(topic, partition))?.assignment;
  }

  isCurrent(assignment: PartitionAssignment): boolean {
    return this.of(assignment.topic, assignment.partition) === assignment;
  }

  /** What is held of it, or undefined if the assignment is over. */
  held(assignment: PartitionAssignment): Held | undefined {
    const held = this.#held.get(keyOf(assignment.topic, assignment.partition));
    return held?.assignment === assignment ? held : undefined;
  }

  /** The assignments of a new generation. Those of the last one are over. */
  renew(memberAssignment: Readonly<Record<string, readonly number[]>>, isStarting: boolean): readonly OwnAssignment[] {
    this.clear();
    this.#epoch++;
    for (const [topic, partitions] of Object.entries(memberAssignment)) {
      for (const partition of partitions) {
        this.#hold(topic, partition, isStarting);
      }
    }
    return this.current();
  }

  /** New assignments for partitions that are held, because the topic was recreated or the position was moved. */
  renewSome(old: readonly Held[]): readonly OwnAssignment[] {
    this.#epoch++;
    return old.map((held) => {
      this.#noteReadBefore(held);
      held.isGoing = true;
      held.isOver = true;
      held.ahead.length = 0;
      return this.#hold(held.assignment.topic, held.assignment.partition, true);
    });
  }

  clear(): void {
    for (const held of this.#held.values()) {
      this.#noteReadBefore(held);
      held.isOver = true;
    }
    this.#held.clear();
  }

  /** The session has failed: nothing more is read. What was handled is still committed. */
  endReading(): void {
    for (const held of this.#held.values()) {
      held.isOver = true;
    }
  }

  /** The held partitions among these. */
  heldOf(assignments: readonly PartitionAssignment[]): readonly Held[] {
    return assignments.flatMap((assignment) => this.held(assignment) ?? []);
  }

  /** The starts that are under way for these partitions. */
  startsOf(offsets: readonly OffsetCommit[]): readonly Promise<void>[] {
    return this.heldOf(offsets.map(({ assignment }) => assignment)).flatMap(({ isStarting, start }) => (isStarting ? [start] : []));
  }

  /** The position that this member had in an earlier assignment of the partition, or null. */
  readBefore({ topic, partition }: PartitionAssignment): Position | null {
    return this.#readBefore.get(keyOf(topic, partition)) ?? null;
  }

  #hold(topic: string, partition: number, isStarting: boolean): OwnAssignment {
    const assignment: OwnAssignment = { topic, partition, epoch: this.#epoch, topicId: null };
    this.#held.set(keyOf(topic, partition), {
      assignment,
      expected: null,
      reached: null,
      committedTo: null,
      handledTo: null,
      isStarting,
      start: Promise.resolve(),
      isPaused: false,
      failedFetches: 0,
      checkedFetches: 0,
      gapCheck: undefined,
      isGoing: false,
      isOver: false,
      atWork: undefined,
      ahead: [],
      isHeld: false,
      isSlow: false,
    });
    return assignment;
  }

  #noteReadBefore({ assignment, expected }: Held): void {
    if (expected !== null && assignment.topicId !== null) {
      this.#readBefore.set(keyOf(assignment.topic, assignment.partition), { offset: expected, topicId: assignment.topicId });
    }
  }

  /**
   * Partitions whose topic id is known. Partitions that are about to be given up are left out: a new assignment for one would be made during
   * the release, which ends every assignment but tells the consumer only of the old ones. The next start checks their ids.
   */
  identified(): readonly Held[] {
    return [...this.#held.values()].filter(({ assignment, isStarting, isGoing }) => assignment.topicId !== null && !isStarting && !isGoing);
  }

  /** A fetch has thrown. The topic of each partition is checked before its next batch is handed over. */
  recheckTopic(): void {
    for (const held of this.#held.values()) {
      held.failedFetches++;
    }
  }

  /** The assignment is held, and the offset is above its last commit. */
  isAhead({ assignment, offset }: OffsetCommit): boolean {
    const held = this.held(assignment);
    return held !== undefined && (held.committedTo === null || offset > held.committedTo);
  }

  /** These are handled, even if the group does not have them yet. An offset that is put back meanwhile must not be below them. */
  handled(offsets: readonly OffsetCommit[]): void {
    for (const { assignment, offset } of offsets) {
      const held = this.held(assignment);
      if (held !== undefined && (held.handledTo === null || offset > held.handledTo)) {
        held.handledTo = offset;
      }
    }
  }

  /** The group has these offsets. */
  committed(offsets: readonly OffsetCommit[]): void {
    this.handled(offsets);
    for (const { assignment, offset } of offsets) {
      const held = this.held(assignment);
      if (held !== undefined && (held.reached === null || offset > held.reached)) {
        held.reached = offset;
      }
      if (held !== undefined && (held.committedTo === null || offset > held.committedTo)) {
        held.committedTo = offset;
      }
    }
  }

  /** The group's commit as far as this member knows, or null. */
  reachedOf(assignment: PartitionAssignment): bigint | null {
    return this.held(assignment)?.reached ?? null;
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

function keyOf(topic: string, partition: number): string {
  return `${topic}\0${partition}`;
}
