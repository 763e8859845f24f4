import type { DriverSink, LostRange, PartitionAssignment, Subscription } from "@cdckit/consumer";
import {
  type BrokerQuestions,
  isRead,
  maxInt32,
  missingAt,
  neededToRead,
  type PartitionWaits,
  placeOf,
  resumeOrFail,
  type TopicCheck,
  whileHeld,
} from "@cdckit/driver";
import { createRecordSetReader, type DecompressOptions, isRecordBatchError } from "@cdckit/record-batch";
import { epochBefore, type Fetched, type Held, placeAt } from "./assignments.ts";
import { makeError } from "./errors.ts";
import type { FetchedPartition } from "./fetch-response.ts";
import type { Leaders } from "./leaders.ts";
import { codes } from "./low-level-client.ts";

export interface PartitionReaderParts {
  readonly brokers: Pick<BrokerQuestions, "ends">;
  readonly subscription: Subscription;
  readonly sink: DriverSink;
  readonly leaders: Leaders;
  readonly topicCheck: Pick<TopicCheck<Held>, "look" | "lookAgain" | "isDue" | "followBatch" | "isStill">;
  readonly decompression: DecompressOptions;
  /** Partitions whose fetches are refused. */
  readonly waits: Pick<PartitionWaits, "failed" | "end">;
  /** Kafka's name of an error code. */
  readonly nameOf: (code: number) => string;
  /** What was fetched may be handed over. */
  readonly ready: (held: Held) => void;
  /** More of it can be fetched. */
  readonly wake: () => void;
  readonly fail: (error: unknown) => void;
}

const retryPauseMs = 200;
/** A batch that could not be read is fetched again so many times: it may have been damaged on the way. */
const maxReads = 3;
const otherTopicCodes: ReadonlySet<number> = new Set([codes.unknownTopicId, codes.inconsistentTopicId, codes.unknownTopicOrPartition]);

/** Takes what was fetched of partitions, and finds out what to do about those that could not be fetched. */
export class PartitionReader {
  readonly #parts: PartitionReaderParts;
  readonly #looking = new Set<Held>();

  constructor(parts: PartitionReaderParts) {
    this.#parts = parts;
  }

  /** What a fetch from this offset has brought. */
  take(held: Held, fetched: FetchedPartition, fromOffset: bigint): void {
    const { errorCode, divergesAt, bytes } = fetched;
    if (errorCode !== 0 || divergesAt !== null) {
      held.retryAtMs = performance.now() + retryPauseMs;
      this.#failed(held, errorCode, divergesAt);
      return;
    }
    this.#parts.waits.end(held);
    if (bytes.length > 0) {
      this.#check(held, this.#queue(held, fetched, fromOffset), fetched.isByName);
    }
  }

  /** A batch could not be read. It is fetched again, and if it stays so, the session fails: what comes before it was handed over. */
  unreadable(held: Held, error: unknown): void {
    held.failedReads++;
    if (held.failedReads >= maxReads) {
      this.#parts.fail(error);
      return;
    }
    if (isRecordBatchError(error) && error.neededBytes !== null) {
      held.neededBytes = Math.min(error.neededBytes, maxInt32);
    }
    this.#parts.subscription.logger.warn({ err: error }, "a record batch could not be read; it is fetched again");
    placeAt(held, held.next, epochBefore(held, held.next));
    held.retryAtMs = performance.now() + retryPauseMs;
    this.#parts.wake();
  }

  /** The topic may be another one of the same name. Never rejects. */
  async recheck(): Promise<void> {
    await this.#parts.topicCheck.lookAgain();
    await this.#parts.leaders.refresh();
  }

  #queue(held: Held, { bytes, abortedTransactions, lastStableOffset }: FetchedPartition, fromOffset: bigint): Fetched {
    const { topic, partition } = held.assignment;
    const assignment: PartitionAssignment = held.assignment;
    const highWatermark = lastStableOffset < 0n ? null : lastStableOffset;
    const records = { topic, partition, assignment, bytes, fromOffset, abortedTransactions, highWatermark };
    const sets = createRecordSetReader(records, this.#parts.decompression);
    const end = sets.end(); // the next fetch is sent before these batches are decompressed and checked
    const queued: Fetched = { sets, byteLength: bytes.length, end: end?.nextOffset ?? null, isReady: false };
    held.ahead.push(queued);
    if (end !== null) {
      held.fetchFrom = end.nextOffset;
      held.lastEpoch = end.leaderEpoch ?? -1;
    }
    return queued;
  }

  /**
   * A fetch by id is refused if the topic is another one. One by name is answered with the records of the other topic (brokers before Kafka 3.1
   * know no other fetch), so the topic is checked first. Nothing is to be compared if the brokers have no topic ids.
   */
  #check(held: Held, queued: Fetched, isByName: boolean): void {
    const { topicCheck } = this.#parts;
    const isUnsure = isByName && held.assignment.topicId !== null;
    if (isUnsure) {
      topicCheck.followBatch();
    }
    const look = isUnsure && topicCheck.isDue ? topicCheck.look() : null;
    const preparation = queued.sets.prepare();
    const ready = (): void => {
      queued.isReady = true;
      this.#parts.ready(held);
    };
    if (look === null && preparation === null) {
      ready();
    } else {
      void Promise.all([look, preparation]).then(ready);
    }
  }

  #failed(held: Held, errorCode: number, divergesAt: bigint | null): void {
    const { topic, partition } = held.assignment;
    const answer = `a fetch of ${topic}[${partition}] was answered with ${divergesAt === null ? this.#parts.nameOf(errorCode) : "an end of the log that is below what was read"}`;
    if (errorCode === codes.topicAuthorization) {
      const needed = neededToRead("topic", { groupId: this.#parts.subscription.groupId, topics: [topic] });
      this.#parts.fail(makeError("not-authorized", `${answer}. ${needed}`)); // who has no right to read gets none by waiting
      return;
    }
    this.#parts.waits.failed(held, makeError("partition-unavailable", answer));
    if (errorCode === codes.offsetOutOfRange || divergesAt !== null) {
      void this.#investigate(held, divergesAt);
    } else if (otherTopicCodes.has(errorCode)) {
      void this.recheck();
    } else {
      void this.#parts.leaders.refresh();
    }
  }

  /** The log does not have the offset at which the next fetch begins. Never rejects. */
  async #investigate(held: Held, divergesAt: bigint | null): Promise<void> {
    const { brokers, subscription, topicCheck, wake } = this.#parts;
    // What was fetched before is handed over first. The next fetch finds the offset out of range again.
    if (!isRead(held) || held.ahead.length > 0 || this.#looking.has(held)) {
      return;
    }
    this.#looking.add(held);
    try {
      await whileHeld(held, async (still) => {
        await still(topicCheck.lookAgain());
        const lost = (await still(missingAt(brokers, held.assignment, held.next))) ?? (await still(this.#truncated(held, divergesAt)));
        if (lost === null) {
          placeAt(held, held.next); // without the epoch: the log has lost it, and not the record before this offset
        } else if (await still(topicCheck.isStill(held))) {
          this.#lose(held, lost);
        } else {
          held.retryAtMs = performance.now() + retryPauseMs; // the log may have been that of another topic
        }
      });
    } catch (error) {
      subscription.logger.warn({ err: error }, "the ends of the logs could not be asked for; they are asked for again");
    } finally {
      this.#looking.delete(held);
      wake();
    }
  }

  /** The log has the offset, but its leader has lost what came before it, and has written other records there. */
  async #truncated({ assignment, next }: Held, divergesAt: bigint | null): Promise<LostRange | null> {
    const { topic, partition } = assignment;
    if (divergesAt === null || divergesAt >= next) {
      return null;
    }
    const log = (await this.#parts.brokers.ends([topic])).get(placeOf(topic, partition));
    return { topic, partition, firstMissing: next, firstAvailable: log?.low ?? 0n, end: divergesAt };
  }

  /** Goes on after the lost range if the user has chosen that. If not, the session fails. */
  #lose(held: Held, lost: LostRange): void {
    const { fail, sink, subscription } = this.#parts;
    const position = resumeOrFail(lost, subscription, makeError, fail);
    if (position === null) {
      return;
    }
    sink.skipped?.(held.assignment, lost, position);
    placeAt(held, position);
  }
}
