import type { OffsetCommit, OutgoingRecord } from "@cdckit/consumer";
import { type Assignments, toKafkaJsOffsets } from "./assignments.ts";
import { KafkaJsDriverError } from "./errors.ts";
import { isRefusal } from "./heartbeat.ts";
import type { CommitInGeneration } from "./join-gate.ts";
import { RequestLine } from "./request-line.ts";
import type { Transactions } from "./transactions.ts";

export interface CommitParts {
  readonly assignments: Assignments;
  readonly transactions: Transactions;
  /** Called when the group has refused a commit: the partitions are not this member's any more. */
  readonly refused: () => void;
}

/** Commits offsets, by plain commits and by transactions. No commit of the consumer's moves the group back. */
export class Commits {
  readonly #parts: CommitParts;
  /** Keeps requests in order: if an earlier commit overtook a later one, the group would move back. */
  readonly #line: RequestLine = new RequestLine();
  /** Commits in the generation of the last join. Only current assignments are committed, and those are of that generation. */
  #commitInGeneration: CommitInGeneration = () => Promise.reject(notJoined());
  #refusal: Error | null = null;
  /** A batch has been read, in this generation or an earlier one. */
  #hasRead = false;

  constructor(parts: CommitParts) {
    this.#parts = parts;
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

  /** A partition that is moved while it starts has no topic id yet. Its commit waits for the id, which later tells a recreated topic. */
  commit(offsets: readonly OffsetCommit[]): Promise<void> {
    const starting = this.#parts.assignments.startsOf(offsets);
    const commit = (): Promise<void> => this.#line.send(() => this.#commit(offsets));
    return starting.length === 0 ? commit() : Promise.all(starting).then(commit);
  }

  transact(records: readonly OutgoingRecord[], offsets: readonly OffsetCommit[]): Promise<void> {
    const { transactions, assignments } = this.#parts;
    return this.#line.send(async () => {
      await transactions.transact(records, offsets);
      assignments.committed(offsets);
    });
  }

  /**
   * Commits an offset that may be below the group's, because kafkajs itself commits a new position if an offset is out of range. A member that
   * has read nothing puts nothing back: the next member finds the same as this one. A member that has lost the partition while the commit
   * waited puts nothing back either, because that would move the new owner's position. `topicId`: the topic that the commit names.
   */
  putBack({ assignment, offset, topicId = assignment.topicId ?? null }: OffsetCommit): Promise<void> {
    return this.#line.send(async () => {
      if (this.#hasRead && this.#parts.assignments.isCurrent(assignment)) {
        const written = topicId === assignment.topicId ? assignment : { ...assignment, topicId };
        await this.#send([{ assignment: written, offset }]);
      }
    });
  }

  async #commit(offsets: readonly OffsetCommit[]): Promise<void> {
    const { assignments } = this.#parts;
    const ahead = offsets.filter((entry) => assignments.isAhead(entry));
    if (ahead.length > 0) {
      assignments.handled(ahead);
      await this.#send(ahead).catch((error: unknown) => this.#failed(error, ahead));
      assignments.committed(ahead);
    }
  }

  #send(offsets: readonly OffsetCommit[]): Promise<void> {
    return this.#commitInGeneration(toKafkaJsOffsets(offsets));
  }

  /** A member that is refused has lost its partitions. It must not wait for a heartbeat to learn it: until then handlers would go on. */
  #failed(error: unknown, offsets: readonly OffsetCommit[]): never {
    if (isRefusal(error) && offsets.some(({ assignment }) => this.#parts.assignments.isCurrent(assignment))) {
      this.#refusal = error;
      this.#parts.refused();
    }
    throw error;
  }
}

function notJoined(): KafkaJsDriverError {
  return new KafkaJsDriverError("client-crashed", "expected a joined group before the first commit");
}
