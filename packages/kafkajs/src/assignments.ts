import type { OffsetCommit, PartitionAssignment } from "@cdckit/consumer";

/** A partition that is held, and where kafkajs must go on if it loses nothing. */
interface Held {
  readonly assignment: PartitionAssignment;
  /** The offset that the next fetch must ask for; null before the first batch. */
  expected: bigint | null;
}

/** The partitions of the current generation. kafkajs' assignments are eager: a rebalance takes all of them. */
export class Assignments {
  readonly #held = new Map<string, Held>();
  #epoch = 0;

  current(): readonly PartitionAssignment[] {
    return [...this.#held.values()].map(({ assignment }) => assignment);
  }

  of(topic: string, partition: number): PartitionAssignment | undefined {
    return this.#held.get(keyOf(topic, partition))?.assignment;
  }

  isCurrent(assignment: PartitionAssignment): boolean {
    return this.of(assignment.topic, assignment.partition) === assignment;
  }

  /** A new generation: what was held before is not held any more. */
  renew(memberAssignment: Readonly<Record<string, readonly number[]>>): readonly PartitionAssignment[] {
    this.#held.clear();
    this.#epoch++;
    for (const [topic, partitions] of Object.entries(memberAssignment)) {
      for (const partition of partitions) {
        const assignment = Object.freeze({ topic, partition, epoch: this.#epoch });
        this.#held.set(keyOf(topic, partition), { assignment, expected: null });
      }
    }
    return this.current();
  }

  clear(): void {
    this.#held.clear();
  }

  /** kafkajs has passed everything before this offset. */
  passed(topic: string, partition: number, next: bigint): void {
    const held = this.#held.get(keyOf(topic, partition));
    if (held !== undefined) {
      held.expected = next;
    }
  }

  /** Where the next fetch must start, or null where that is not known. */
  expectedOf(topic: string, partition: number): bigint | null {
    return this.#held.get(keyOf(topic, partition))?.expected ?? null;
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
