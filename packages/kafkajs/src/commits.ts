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

  commit(offsets: readonly OffsetCommit[]): Promise<void> {
    return this.#commits.commit(offsets);
  }

  transact(records: readonly OutgoingRecord[], offsets: readonly OffsetCommit[]): Promise<void> {
    return this.#commits.transact(records, offsets);
  }

  putBack(offsets: readonly OffsetCommit[]): Promise<void> {
    return this.#commits.putBack(offsets);
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
