import type { OffsetCommit } from "@cdckit/consumer";
import { bounded, commitMetadata } from "@cdckit/driver";
import type { HeldPartitions } from "./assignments.ts";
import { ConfluentDriverError } from "./errors.ts";
import {
  answerOf,
  type ClientError,
  codes,
  type CommittedPartition,
  type LowLevelConsumer,
  type TopicPartitionOffset,
} from "./low-level-client.ts";

export interface CommitRequestParts {
  readonly consumer: LowLevelConsumer;
  readonly assignments: HeldPartitions;
  /** Called when the group has refused a commit: the partitions are not this member's any more. */
  readonly refused: () => void;
  /** Nothing is waited for after it. */
  readonly ended: AbortSignal;
}

const answerDeadlineMs = 30_000;
/**
 * The group does not know the member any more. A generation that has passed is no such answer: the broker reads a commit that was sent behind the
 * member's own request to join when the group has begun the next generation. The member is in it, and keeps the partitions that the group does not
 * ask for, so the client reports nothing. Partitions that were taken for lost would stay without a reader.
 */
const refusals: ReadonlySet<number> = new Set([codes.unknownMember, codes.fencedInstance]);

type Answered = readonly TopicPartitionOffset[] | undefined;

/** Commits offsets by the client. */
export class CommitRequests {
  readonly #parts: CommitRequestParts;
  #answered: (error: ClientError | undefined, offsets: Answered) => void = () => {};

  constructor(parts: CommitRequestParts) {
    this.#parts = parts;
  }

  /** The client's answer to the commit that is under way, with its offsets. There is one at a time. */
  answered(error: ClientError | undefined, offsets: Answered): void {
    this.#answered(error, offsets);
  }

  /** The caller waits for each commit before the next. */
  async send(offsets: readonly OffsetCommit[]): Promise<void> {
    const { consumer, ended } = this.#parts;
    const answer = new Promise<void>((resolve, reject) => {
      this.#answered = (error, answered) => {
        if (!isAnswerTo(offsets, answered)) {
          return;
        }
        if (error === undefined) {
          resolve();
        } else {
          reject(error);
        }
      };
    });
    answer.catch(() => {}); // nobody waits for it before the request is queued, and its answer may be read before that
    try {
      // Its callback says that the request was queued, and the callback of the consumer that it was answered.
      await answerOf<unknown>((done) => consumer.commitCb(toClientOffsets(offsets), done));
      await bounded(
        answer,
        answerDeadlineMs,
        () => new ConfluentDriverError("commit-failed", `no answer within ${answerDeadlineMs} ms`),
        ended,
      );
    } catch (error) {
      const { code = 0, message = String(error) } = (error ?? {}) as Partial<ClientError>;
      if (refusals.has(code) && offsets.some(({ assignment }) => this.#parts.assignments.isCurrent(assignment))) {
        this.#parts.refused();
      }
      throw error instanceof ConfluentDriverError
        ? error
        : new ConfluentDriverError("commit-failed", `the group refused a commit: ${message}`, { cause: error });
    } finally {
      this.#answered = () => {};
    }
  }
}

/** An answer that comes after its deadline must not count as the one to the commit after it. Some errors name no offsets. */
function isAnswerTo(sent: readonly OffsetCommit[], answered: Answered): boolean {
  if (answered === undefined || answered.length === 0) {
    return true;
  }
  return sent.every(({ assignment: { topic, partition }, offset }) =>
    answered.some((one) => one.topic === topic && one.partition === partition && one.offset === Number(offset)),
  );
}

/** Offsets in the client's form, each with the id of its topic as metadata. */
export function toClientOffsets(offsets: readonly OffsetCommit[]): readonly CommittedPartition[] {
  return offsets.map(({ assignment, offset }) => {
    const metadata = commitMetadata(assignment, offset);
    return { topic: assignment.topic, partition: assignment.partition, offset: Number(offset), ...(metadata === null ? {} : { metadata }) };
  });
}
