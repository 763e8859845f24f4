import type { OffsetCommit, OutgoingRecord } from "@cdckit/consumer";
import { Commits } from "@cdckit/driver";
import { type Held, type HeldPartitions, toKafkaJsOffsets } from "./assignments.ts";
import { KafkaJsDriverError, makeError } from "./errors.ts";
import { isRefusal } from "./heartbeat.ts";
import type { CommitInGeneration } from "./join-gate.ts";
import type { Transactions } from "./transactions.ts";

export interface GroupCommitParts {
  readonly assignments: HeldPartitions;
  readonly transactions: Pick<Transactions, "transact">;
  /** Called when the group has refused a commit: the partitions are not this member's any more. */
  readonly refused: () => void;
}

/** Commits in the generation of the last join, and knows what the group has refused in it. */
export class GroupCommits {
  readonly #parts: GroupCommitParts;
  readonly #commits: Commits<Held>;
  /** Only current assignments are committed, and those are of that generation. */
  #commitInGeneration: CommitInGeneration = () => Promise.reject(notJoined());
  #refusal: Error | null = null;
  /** A batch has been read, in this generation or an earlier one. */
  #hasRead = false;

  constructor(parts: GroupCommitParts) {
    this.#parts = parts;
    this.#commits = new Commits({
      assignments: parts.assignments,
      send: (offsets) => this.#send(offsets),
      transact: (records, offsets) => parts.transactions.transact(records, offsets),
      makeError,
    });
  }

  /** The error with which the group has refused a commit of this generation; null if it has refused none. */
  get refusal(): Error | null {
    return this.#refusal;
  }

  /** The group has answered a join. From now on commits are sent in its generation. */
  useGeneration(commit: CommitInGeneration): void {
    this.#commitInGeneration = commit;
  }

  /** The partitions of a new generation were assigned. A refusal in the last generation does not count any more. */
  joined(): void {
    this.#refusal = null;
  }

  /** A batch has been read. */
  noteRead(): void {
    this.#hasRead = true;
  }

  commit(offsets: readonly OffsetCommit[]): Promise<void> {
    this.#parts.assignments.handled(offsets);
    return this.#commits.commit(offsets);
  }

  transact(records: readonly OutgoingRecord[], offsets: readonly OffsetCommit[]): Promise<void> {
    return this.#commits.transact(records, offsets);
  }

  /**
   * Commits an offset that may be below the group's, because kafkajs itself commits a new position if an offset is out of range. A member that
   * has read nothing puts nothing back: the next member finds the same as this one.
   */
  putBack(offset: OffsetCommit): Promise<void> {
    return this.#hasRead ? this.#commits.putBack(offset) : Promise.resolve();
  }

  /**
   * Puts back what is known to be handled of the partition. The offset of a transaction that is under way is known only when it has ended: an
   * offset that was read before would move the group back over records that are written already.
   */
  putBackHandled(held: Held): Promise<void> {
    const { assignment } = held;
    const handled = (): OffsetCommit => ({ assignment, offset: held.handledTo ?? 0n });
    return this.#hasRead ? this.#commits.putBackWhenDue(assignment, handled) : Promise.resolve();
  }

  /** A member that is refused has lost its partitions. It must not wait for a heartbeat to learn it: until then handlers would go on. */
  async #send(offsets: readonly OffsetCommit[]): Promise<void> {
    try {
      await this.#commitInGeneration(toKafkaJsOffsets(offsets));
    } catch (error) {
      if (isRefusal(error) && offsets.some(({ assignment }) => this.#parts.assignments.isCurrent(assignment))) {
        this.#refusal = error;
        this.#parts.refused();
      }
      throw error;
    }
  }
}

function notJoined(): KafkaJsDriverError {
  return new KafkaJsDriverError("client-crashed", "expected a joined group before the first commit");
}
