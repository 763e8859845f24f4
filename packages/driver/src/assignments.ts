import type { OffsetCommit, OpenWait, PartitionAssignment } from "@cdckit/consumer";
import type { Position } from "./lost-range.ts";
import { type Place, placeOf } from "./place.ts";

/** An assignment of a driver. The topic's id becomes known when the partition starts. */
export interface OwnAssignment extends PartitionAssignment {
  /** The topic's id; null until the partition starts, and if the brokers have no topic ids. */
  topicId: string | null;
}

/** A partition that this member holds. A driver adds what its client needs. */
export interface HeldPartition<Ahead = unknown> {
  /** The assignment, whose identity tells it from earlier ones of the same partition. */
  readonly assignment: OwnAssignment;
  /** The highest offset that this assignment has committed; null before the first commit. */
  committedTo: bigint | null;
  /** Where it started, as long as the group has no commit of it; null otherwise, and after a seek. */
  uncommittedStart: bigint | null;
  /**
   * The offset of its last transaction, as long as it is not known whether that was carried out: its commit was asked for, and not answered.
   * Null otherwise.
   */
  doubted: bigint | null;
  /** Its start is not known yet. Nothing of it is handed over until then. */
  isStarting: boolean;
  /** Resolves when the start is known, or when nobody needs it any more. Never rejects. */
  start: Promise<void>;
  /** The consumer has paused it. */
  isPaused: boolean;
  /** It is about to be given up: nothing more of it is handed over. */
  isGoing: boolean;
  /** It was given up, or the session has ended. `whileHeld` then ends the work that is under way for it. */
  isOver: boolean;
  /** What was fetched while the consumer was not ready. */
  readonly ahead: Ahead[];
  /** What is waited for before more of it can be read. Nobody waits for that once it is given up. */
  readonly waits: Set<OpenWait>;
}

/** What a driver gives the list of its partitions. */
export interface AssignmentParts<Held extends HeldPartition> {
  /** What the driver keeps of a partition. `old`: what was held of it just before, if this is a new assignment of the same partition. */
  readonly hold: (held: HeldPartition<Held["ahead"][number]>, old: Held | undefined) => Held;
  /** The offset of the next record that is read; null until it is known. */
  readonly positionOf: (held: Held) => bigint | null;
}

/** The partitions that this member holds, with their epochs. */
export class Assignments<Held extends HeldPartition> {
  readonly #parts: AssignmentParts<Held>;
  /** By topic and partition: a lookup for each record must not make a key. */
  readonly #held = new Map<string, Map<number, Held>>();
  /** The position of this member when it gave a partition up, with the id of the topic. */
  readonly #readBefore = new Map<string, Position>();
  #epoch = 0;

  constructor(parts: AssignmentParts<Held>) {
    this.#parts = parts;
  }

  /** Every partition that is held. */
  all(): readonly Held[] {
    return [...this.#held.values()].flatMap((partitions) => [...partitions.values()]);
  }

  /** The assignments of all partitions that are held. */
  current(): readonly OwnAssignment[] {
    return this.all().map(({ assignment }) => assignment);
  }

  /** What is held of a partition, whatever its epoch; undefined if it is not held. */
  at(topic: string, partition: number): Held | undefined {
    return this.#held.get(topic)?.get(partition);
  }

  /** What is held of it, or undefined if the assignment is over. */
  held(assignment: PartitionAssignment): Held | undefined {
    const held = this.at(assignment.topic, assignment.partition);
    return held?.assignment === assignment ? held : undefined;
  }

  /** Whether this assignment, of this epoch, is still held. */
  isCurrent(assignment: PartitionAssignment): boolean {
    return this.held(assignment) !== undefined;
  }

  /** The held partitions among these. */
  heldOf(assignments: readonly PartitionAssignment[]): readonly Held[] {
    return assignments.flatMap((assignment) => this.held(assignment) ?? []);
  }

  /** New assignments for these partitions. What was held of them is over. */
  add(places: readonly Place[]): readonly OwnAssignment[] {
    this.#epoch++;
    return places.map(({ topic, partition }) => {
      const old = this.at(topic, partition);
      if (old !== undefined) {
        this.#end(old);
      }
      const assignment: OwnAssignment = { topic, partition, epoch: this.#epoch, topicId: null };
      const ofTopic = this.#held.get(topic) ?? new Map<number, Held>();
      this.#held.set(topic, ofTopic);
      ofTopic.set(partition, this.#parts.hold(unstarted(assignment), old));
      return assignment;
    });
  }

  /** These partitions are about to be given up. Nothing more of them is handed over. */
  announceRelease(going: readonly Held[]): void {
    for (const held of going) {
      held.isGoing = true;
      held.ahead.length = 0;
      endWaits(held);
    }
  }

  /** These partitions are given up. */
  release(gone: readonly Held[]): void {
    for (const held of gone) {
      const { topic, partition } = held.assignment;
      if (this.at(topic, partition) === held) {
        this.#end(held);
        this.#held.get(topic)?.delete(partition);
      }
    }
  }

  /** Ends every assignment: the session is over. */
  clear(): void {
    this.release(this.all());
  }

  /** The session has failed: nothing more is read. What was handled is still committed. */
  endReading(): void {
    for (const held of this.all()) {
      held.isOver = true;
      endWaits(held);
    }
  }

  /** What is held of it, if its start is under way; null otherwise. */
  startingOf(assignment: PartitionAssignment): Held | null {
    const held = this.held(assignment);
    return held?.isStarting === true && !held.isOver ? held : null;
  }

  /** The position that this member had in an earlier assignment of the partition, or null. */
  readBefore({ topic, partition }: Place): Position | null {
    return this.#readBefore.get(placeOf(topic, partition)) ?? null;
  }

  /**
   * Partitions whose topic id is known. Partitions that are about to be given up are left out: a new assignment for one would be made during
   * the release, which tells the consumer only of the old one. The next start checks their ids.
   */
  identified(): readonly Held[] {
    return this.all().filter((held) => held.assignment.topicId !== null && isRead(held));
  }

  /** The assignment is held, and the offset is above its last commit. */
  isAhead({ assignment, offset }: OffsetCommit): boolean {
    const held = this.held(assignment);
    return held !== undefined && (held.committedTo === null || offset > held.committedTo);
  }

  /** The group has these offsets. */
  committed(offsets: readonly OffsetCommit[]): void {
    for (const { assignment, offset } of offsets) {
      const held = this.held(assignment);
      if (held !== undefined && (held.committedTo === null || offset > held.committedTo)) {
        held.committedTo = offset;
        held.uncommittedStart = null;
      }
      if (held !== undefined && held.doubted !== null && offset >= held.doubted) {
        held.doubted = null;
      }
    }
  }

  /** A transaction is to commit these offsets. Whether it has is not known until `committed`. */
  doubt(offsets: readonly OffsetCommit[]): void {
    for (const { assignment, offset } of offsets) {
      const held = this.held(assignment);
      if (held !== undefined) {
        held.doubted = offset;
      }
    }
  }

  /** Their last transactions were not carried out. */
  undoubt(assignments: readonly PartitionAssignment[]): void {
    for (const held of this.heldOf(assignments)) {
      held.doubted = null;
    }
  }

  /** The offset of a transaction of which it is not known whether it was carried out, or null. */
  doubtedOf(assignment: PartitionAssignment): bigint | null {
    return this.held(assignment)?.doubted ?? null;
  }

  #end(held: Held): void {
    const { topic, partition, topicId } = held.assignment;
    const offset = this.#parts.positionOf(held);
    held.isGoing = true;
    held.isOver = true;
    held.ahead.length = 0;
    endWaits(held);
    if (offset !== null && topicId !== null) {
      this.#readBefore.set(placeOf(topic, partition), { offset, topicId });
    }
  }
}

/** Records of it may be handed over. */
export function isRead({ isStarting, isGoing, isOver }: HeldPartition): boolean {
  return !isStarting && !isGoing && !isOver;
}

function unstarted<Ahead>(assignment: OwnAssignment): HeldPartition<Ahead> {
  return {
    assignment,
    committedTo: null,
    uncommittedStart: null,
    doubted: null,
    isStarting: true,
    start: Promise.resolve(),
    isPaused: false,
    isGoing: false,
    isOver: false,
    ahead: [],
    waits: new Set(),
  };
}

function endWaits({ waits }: HeldPartition): void {
  waits.forEach((wait) => wait.end());
  waits.clear();
}
