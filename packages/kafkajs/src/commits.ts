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
  /** The group has refused a commit: the partitions are not this member's any more. */
  readonly refused: () => void;
}

/** Moves the group's offsets, by plain commits and by transactions, and never back. */
export class Commits {
  readonly #parts: CommitParts;
  /** One that was asked for later must not be overtaken by an earlier one, or the group would move back. */
  readonly #line: RequestLine = new RequestLine();
  /** Of the last join. What is committed is of assignments that are current, and those are of that join. */
  #commitInGeneration: CommitInGeneration = () => Promise.reject(notJoined());
  #refusal: Error | null = null;
  /** A batch has come, in this generation or an earlier one. */
  #hasRead = false;

  constructor(parts: CommitParts) {
    this.#parts = parts;
  }

  /** The error with which the group has refused a commit of this generation; null if it has refused none. */
  get refusal(): Error | null {
    return this.#refusal;
  }

  /** The group has answered a join. From here on commits go out in its generation. */
  useGeneration(commit: CommitInGeneration): void {
    this.#commitInGeneration = commit;
  }

  /** A new generation was assigned partitions: what was refused before does not count any more. */
  joined(): void {
    this.#refusal = null;
  }

  /** A batch has come. */
  noteRead(): void {
    this.#hasRead = true;
  }

  /** A partition that is moved while it starts has no topic id yet: its commit waits for the id, or a recreated topic could not be told. */
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
   * A commit of the driver's own, which may move the group back: kafkajs itself commits if an offset is out of range. A member that has read
   * nothing puts nothing back, because the next one finds what it has found. Neither does one that has lost the partition while the commit
   * waited for its turn: it would move the new owner's position. `topicId`: what the commit names as its topic.
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
  return new KafkaJsDriverError("client-crashed", "nothing can be committed before the group was joined");
}
