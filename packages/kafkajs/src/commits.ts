import type { OffsetCommit, OutgoingRecord } from "@cdckit/consumer";
import type { EachBatchPayload } from "kafkajs";
import { type Assignments, type KafkaJsOffsets, toKafkaJsOffsets } from "./assignments.ts";
import { isRefusal } from "./heartbeat.ts";
import { RequestLine } from "./request-line.ts";
import type { Transactions } from "./transactions.ts";

export interface CommitParts {
  readonly assignments: Assignments;
  readonly transactions: Transactions;
  /** Commits in the generation that kafkajs is in. */
  readonly commitNow: (offsets: KafkaJsOffsets) => Promise<void>;
  /** The group has refused a commit: the partitions are not this member's any more. */
  readonly refused: () => void;
}

/** Moves the group's offsets, by plain commits and by transactions, and never back. */
export class Commits {
  readonly #parts: CommitParts;
  /** One that was asked for later must not be overtaken by an earlier one, or the group would move back. */
  readonly #line: RequestLine = new RequestLine();
  /**
   * Commits of the generation that the last batch came in. kafkajs' `commitOffsets` would try again after a failure, and then with the
   * generation of that later moment: it would commit what was handled before a rebalance over what the new owner has committed. Before the
   * first batch of a generation no record is handled: a position that was moved by then, or that lies behind control records, is all that
   * there is to commit, and `commitOffsets` has to do. A batch of an older generation would not: after kafkajs has crashed and started
   * again, the group refuses its commits.
   */
  #commitInGeneration: EachBatchPayload["commitOffsetsIfNecessary"] | undefined;
  #refusal: Error | null = null;
  /** A batch has come, in this generation or an earlier one. */
  #hasRead = false;

  constructor(parts: CommitParts) {
    this.#parts = parts;
  }

  /** What the group has refused a commit of this generation with; null where it has refused none. */
  get refusal(): Error | null {
    return this.#refusal;
  }

  /** A new generation: what was refused before does not count any more, and no batch of it has come. */
  joined(): void {
    this.#refusal = null;
    this.#commitInGeneration = undefined;
  }

  /** A batch has come; from here on commits are of its generation. */
  useGenerationOf({ commitOffsetsIfNecessary }: EachBatchPayload): void {
    this.#commitInGeneration = commitOffsetsIfNecessary;
    this.#hasRead = true;
  }

  commit(offsets: readonly OffsetCommit[]): Promise<void> {
    return this.#line.send(() => this.#commit(offsets));
  }

  transact(records: readonly OutgoingRecord[], offsets: readonly OffsetCommit[]): Promise<void> {
    const { transactions, assignments } = this.#parts;
    return this.#line.send(async () => {
      await transactions.transact(records, offsets);
      assignments.committed(offsets);
    });
  }

  /**
   * A commit of the driver's own, which may move the group back: kafkajs itself commits where an offset is out of range. Nothing is put back
   * by a member that has read nothing: what told it where it starts tells the next one as well.
   */
  putBack(commit: OffsetCommit): Promise<void> {
    return this.#line.send(async () => {
      if (this.#hasRead) {
        await this.#send([commit]);
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
    const { commitNow } = this.#parts;
    return (this.#commitInGeneration ?? commitNow)(toKafkaJsOffsets(offsets));
  }

  /** Who is refused has lost its partitions, and must not wait for a heartbeat to tell: until then handlers would go on. */
  #failed(error: unknown, offsets: readonly OffsetCommit[]): never {
    if (isRefusal(error) && offsets.some(({ assignment }) => this.#parts.assignments.isCurrent(assignment))) {
      this.#refusal = error;
      this.#parts.refused();
    }
    throw error;
  }
}
