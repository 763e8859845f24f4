import type { OffsetCommit, OutgoingRecord } from "@cdckit/consumer";
import type { Assignments, HeldPartition } from "./assignments.ts";
import { settledOrLate } from "./bounded.ts";
import type { MakeDriverError } from "./errors.ts";
import { passingMs } from "./partition-waits.ts";
import { RequestLine } from "./request-line.ts";

/** What committing needs of a driver. */
export interface CommitParts<Held extends HeldPartition> {
  /** The partitions that the member holds. Offsets of other assignments are not committed. */
  readonly assignments: Assignments<Held>;
  /** Commits these offsets. Their metadata names the topic id of their assignments. */
  readonly send: (offsets: readonly OffsetCommit[]) => Promise<void>;
  /** Writes the records and commits the offsets, in one transaction of Kafka. */
  readonly transact: (records: readonly OutgoingRecord[], offsets: readonly OffsetCommit[]) => Promise<void>;
  /** Makes the driver's own error. */
  readonly makeError: MakeDriverError;
}

/** Commits offsets, by plain commits and by transactions. No commit of the consumer's moves the group back. */
export class Commits<Held extends HeldPartition> {
  readonly #parts: CommitParts<Held>;
  /** Keeps requests in order: if an earlier commit overtook a later one, the group would move back. */
  readonly #line: RequestLine = new RequestLine();
  /** Partitions whose start was waited for in vain, and is not known yet: the next commits do not wait for it. */
  readonly #late = new WeakSet<Held>();

  constructor(parts: CommitParts<Held>) {
    this.#parts = parts;
  }

  /**
   * A partition that is moved while it starts has no topic id yet. Its commit waits for the id, which later tells a recreated topic. That usually
   * takes a moment, and without a leader it may take days. So the others are committed first, and after a second the commit of this one fails.
   */
  async commit(offsets: readonly OffsetCommit[]): Promise<void> {
    const { assignments } = this.#parts;
    const starting = offsets.filter(({ assignment }) => assignments.startingOf(assignment) !== null);
    await this.#line.send(() => this.#commit(offsets.filter((entry) => !starting.includes(entry))));
    if (starting.length > 0) {
      const unknown = await this.#unknownOf(starting);
      await this.#line.send(() => this.#commit(starting.filter((entry) => !unknown.includes(entry))));
      this.#refuseUnknown(unknown);
    }
  }

  /**
   * Sends records and commits offsets in one transaction of the client, after the commits that were asked for before. Rejects with what
   * `transact` of the parts rejects with.
   */
  transact(records: readonly OutgoingRecord[], offsets: readonly OffsetCommit[]): Promise<void> {
    const { transact, assignments } = this.#parts;
    return this.#line.send(async () => {
      await transact(records, offsets);
      assignments.committed(offsets);
    });
  }

  /**
   * Commits offsets that may be below the group's, and of partitions that are still starting. A member that has lost a partition while the commit
   * waited puts nothing back there, because that would move the new owner's position. `topicId`: the topic that the commit names.
   */
  putBack(offsets: readonly OffsetCommit[]): Promise<void> {
    return this.#line.send(async () => {
      const current = offsets.filter(({ assignment }) => this.#parts.assignments.isCurrent(assignment));
      if (current.length > 0) {
        await this.#parts.send(current.map(namingItsTopic));
      }
    });
  }

  /** Those whose starts are not known, also after a wait. */
  async #unknownOf(offsets: readonly OffsetCommit[]): Promise<readonly OffsetCommit[]> {
    const { assignments } = this.#parts;
    const starting = offsets.flatMap(({ assignment }) => assignments.startingOf(assignment) ?? []);
    const awaited = starting.filter((held) => !this.#late.has(held));
    await Promise.all(awaited.map((held) => settledOrLate(held.start, passingMs, () => this.#noteLate(held))));
    return offsets.filter(({ assignment }) => {
      const held = assignments.startingOf(assignment);
      return held !== null && this.#late.has(held);
    });
  }

  #noteLate(held: Held): void {
    this.#late.add(held);
    void held.start.then(() => this.#late.delete(held));
  }

  async #commit(offsets: readonly OffsetCommit[]): Promise<void> {
    const { assignments, send } = this.#parts;
    const ahead = offsets.filter((entry) => assignments.isAhead(entry));
    const known = ahead.filter(({ assignment }) => assignments.doubtedOf(assignment) === null);
    if (known.length > 0) {
      await send(known);
      assignments.committed(known);
    }
    this.#refuseDoubted(ahead);
  }

  #refuseUnknown([unknown]: readonly OffsetCommit[]): void {
    if (unknown !== undefined) {
      const { topic, partition } = unknown.assignment;
      throw this.#parts.makeError(
        "partition-unavailable",
        `it is not known yet where ${topic}[${partition}] starts; until then, nothing is committed there`,
      );
    }
  }

  /** The group may be at a transaction's offset already, and an earlier one would move it back. The next transaction asks where it is. */
  #refuseDoubted(offsets: readonly OffsetCommit[]): void {
    const { assignments, makeError } = this.#parts;
    const [doubted] = offsets.filter(({ assignment }) => assignments.doubtedOf(assignment) !== null);
    if (doubted !== undefined) {
      const { topic, partition } = doubted.assignment;
      throw makeError(
        "transaction-failed",
        `it is not known whether the last transaction of ${topic}[${partition}] was carried out; until the next one, nothing else is committed there`,
      );
    }
  }
}

/** The commit's metadata names the topic id of the assignment. */
function namingItsTopic({ assignment, offset, topicId = assignment.topicId ?? null }: OffsetCommit): OffsetCommit {
  return { assignment: topicId === assignment.topicId ? assignment : { ...assignment, topicId }, offset };
}
