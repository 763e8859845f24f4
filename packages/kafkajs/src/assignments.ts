import type { OffsetCommit, PartitionAssignment } from "@cdckit/consumer";
import type { MessageBatch } from "./message-batch.ts";

/** A partition that is held, and where kafkajs must go on if it loses nothing. */
export interface Held {
  readonly assignment: PartitionAssignment;
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
  /** The consumer wants nothing of it for now. */
  isPaused: boolean;
  /** A fetch has thrown since the last batch: the topic may be another one by now. */
  isDistrusted: boolean;
  /** It is looked at what lies in front of a batch that eachBatch never sees. Never rejects. */
  passing: Promise<void> | undefined;
  /** It is about to be given up: nothing more of it is handed over. */
  isGoing: boolean;
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
  #epoch = 0;

  current(): readonly PartitionAssignment[] {
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

  of(topic: string, partition: number): PartitionAssignment | undefined {
    return this.#held.get(keyOf(topic, partition))?.assignment;
  }

  isCurrent(assignment: PartitionAssignment): boolean {
    return this.of(assignment.topic, assignment.partition) === assignment;
  }

  /** What is held of it, or undefined where the assignment is over. */
  held(assignment: PartitionAssignment): Held | undefined {
    const held = this.#held.get(keyOf(assignment.topic, assignment.partition));
    return held?.assignment === assignment ? held : undefined;
  }

  /** A new generation: what was held before is not held any more. */
  renew(memberAssignment: Readonly<Record<string, readonly number[]>>, isStarting: boolean): readonly PartitionAssignment[] {
    this.#held.clear();
    this.#epoch++;
    for (const [topic, partitions] of Object.entries(memberAssignment)) {
      for (const partition of partitions) {
        const assignment = Object.freeze({ topic, partition, epoch: this.#epoch });
        const held: Held = {
          assignment,
          expected: null,
          reached: null,
          committedTo: null,
          handledTo: null,
          isStarting,
          isPaused: false,
          isDistrusted: false,
          passing: undefined,
          isGoing: false,
          atWork: undefined,
          ahead: [],
          isHeld: false,
          isSlow: false,
        };
        this.#held.set(keyOf(topic, partition), held);
      }
    }
    return this.current();
  }

  clear(): void {
    this.#held.clear();
  }

  /** Before the next batch of any partition, its topic is looked at. */
  distrust(): void {
    for (const held of this.#held.values()) {
      held.isDistrusted = true;
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

/** Offsets as kafkajs takes them. */
export function toKafkaJsOffsets(offsets: readonly OffsetCommit[]): {
  topics: { topic: string; partitions: { partition: number; offset: string }[] }[];
} {
  const topics = new Map<string, { partition: number; offset: string }[]>();
  for (const { assignment, offset } of offsets) {
    const partitions = topics.get(assignment.topic) ?? [];
    partitions.push({ partition: assignment.partition, offset: String(offset) });
    topics.set(assignment.topic, partitions);
  }
  return { topics: [...topics].map(([topic, partitions]) => ({ topic, partitions })) };
}

function keyOf(topic: string, partition: number): string {
  return `${topic}\0${partition}`;
}
