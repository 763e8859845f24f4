import type { OffsetCommit, PartitionAssignment } from "@cdckit/consumer";

/**
 * How far a reading has come in each partition. Its group commits nothing, so that it would begin again at its start whenever it is rebalanced:
 * after a broker has restarted, or when a topic gets partitions.
 */
export class ReadPositions {
  readonly #positions = new Map<string, OffsetCommit>();

  /** Everything below the offset has been read. */
  reached(assignment: PartitionAssignment, offset: bigint): void {
    this.#positions.set(placeOf(assignment), { assignment, offset });
  }

  /** Where the partitions go on, as a driver asks for it with `startAt`. Those that nothing was read of are left out. */
  of(assignments: readonly PartitionAssignment[]): readonly OffsetCommit[] {
    return assignments.flatMap((assignment) => {
      const position = this.#positions.get(placeOf(assignment));
      // With the id of the topic that was read: in another topic of this name, the offset means nothing.
      return position === undefined ? [] : [{ assignment, offset: position.offset, topicId: position.assignment.topicId ?? null }];
    });
  }
}

function placeOf({ topic, partition }: PartitionAssignment): string {
  return `${topic}[${partition}]`;
}
