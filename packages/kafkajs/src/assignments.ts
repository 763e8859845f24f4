import type { OffsetCommit, PartitionAssignment } from "@cdckit/consumer";
import { commitMetadata } from "./commit-metadata.ts";
import type { Position } from "./lost-range.ts";
import type { MessageBatch } from "./message-batch.ts";

/** An assignment of this driver: the topic's id is learned when it starts. */
export interface OwnAssignment extends PartitionAssignment {
  topicId: string | null;
}

/** A partition that is held, and where kafkajs must go on if it loses nothing. */
export interface Held {
  readonly assignment: OwnAssignment;
  /** The offset that the next fetch must ask for; null before that is known. */
  expected: bigint | null;
  /** The group's commit as far as this member knows: what it found, and what it has committed since; null without any. */
  reached: bigint | null;
  /** The highest offset that this member has committed since it started there; null before the first. */
  committedTo: bigint | null;
  /** Where it started, or what the consumer has asked to commit since: the highest that is known to be handled. */
  handledTo: bigint | null;
  /** Nothing of it is handed over until it is known where it starts. */
  isStarting: boolean;
  /** Resolves when that is known, or when nobody needs it any more. Never rejects. */
  start: Promise<void>;
  /** The consumer wants nothing of it for now. */
  isPaused: boolean;
  /** How many fetches have thrown so far, and how many of those a look at the topic has followed: it may be another topic since. */
  failedFetches: number;
  checkedFetches: number;
  /** It is looked at what lies in front of a batch that eachBatch never sees. Never rejects. */
  gapCheck: Promise<void> | undefined;
  /** It is about to be given up: nothing more of it is handed over. */
  isGoing: boolean;
  /** It was given up, or the session has ended. {@link whileHeld} ends what was still under way about it. */
  isOver: boolean;
  /** The consumer is not ready for the next batch. Resolves when it is; never rejects. */
  atWork: Promise<void> | undefined;
  /** Batches that were fetched meanwhile. */
  readonly ahead: MessageBatch[];
  /** Nothing more is fetched of it until those are handed over. */
  isHeld: boolean;
  /** Its last batch took longer than kafkajs' loop waits for one. */
  isSlow: boolean;
}

/** The partitions of the current generation. kafkajs' assignments are eager: a rebalance takes all of them. */
export class Assignments {
  readonly #held = new Map<string, Held>();
  /** Where this member stood when it gave a partition up, and in which topic. */
  readonly #readBefore = new Map<string, Position>();
  #epoch = 0;

  current(): readonly OwnAssignment[] {
    return [...this.#held.values()].map(({ assignment }) => assignment);
  }

  all(): readonly Held[] {
    return [...this.#held.values()];
  }

  /** Nothing more of what is held is handed over. */
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

  /** A new generation: what was held before is not held any more. */
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

  /** New assignments of partitions that are held, whose topic was recreated. */
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

  /** Those of these that are held. */
  heldOf(assignments: readonly PartitionAssignment[]): readonly Held[] {
    return assignments.flatMap((assignment) => this.held(assignment) ?? []);
  }

  /** What the starts of these partitions wait for. */
  startsOf(offsets: readonly OffsetCommit[]): readonly Promise<void>[] {
    return this.heldOf(offsets.map(({ assignment }) => assignment)).flatMap(({ isStarting, start }) => (isStarting ? [start] : []));
  }

  /** What this member knows of a partition from an assignment before; null if it knows nothing. */
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
   * Those whose topic has an id that is known. Not what is about to be given up: a new assignment of it would outlive its own release, which
   * ends at once all that is held, and tells the consumer of the old ones only. Its next start looks at the ids.
   */
  identified(): readonly Held[] {
    return [...this.#held.values()].filter(({ assignment, isStarting, isGoing }) => assignment.topicId !== null && !isStarting && !isGoing);
  }

  /** A fetch has thrown. Before the next batch of any partition, its topic is looked at. */
  recheckTopic(): void {
    for (const held of this.#held.values()) {
      held.failedFetches++;
    }
  }

  /** It is of an assignment that is held, and above what that has committed. */
  isAhead({ assignment, offset }: OffsetCommit): boolean {
    const held = this.held(assignment);
    return held !== undefined && (held.committedTo === null || offset > held.committedTo);
  }

  /** These are handled, whether the group has them yet or not: what is put back meanwhile must not fall behind them. */
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

/** Offsets as kafkajs takes them. */
export interface KafkaJsOffsets {
  topics: { topic: string; partitions: KafkaJsOffset[] }[];
}

/** Offsets as kafkajs takes them, each with the id of the topic that it is of. */
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
