import type { DriverSink, LostRange, Subscription } from "@cdckit/consumer";
import { type BrokerQuestions, lostRangeError, missingAt, resumeOffset, type StillHeld, whileHeld } from "@cdckit/driver";
import type { ConsumerEndBatchProcessEvent, EachBatchPayload } from "kafkajs";
import type { Held, HeldPartitions } from "./assignments.ts";
import { isLeap, isNext } from "./batch-place.ts";
import type { GroupCommits } from "./commits.ts";
import { makeError } from "./errors.ts";
import type { HandOver } from "./hand-over.ts";
import { FetchedAsBytes, FetchedAsMessages, type Fetched } from "./fetched.ts";
import type { PartitionControl } from "./partition-control.ts";
import type { TopicRecheck } from "./topic-recheck.ts";
import type { KeptFetches } from "./wire/kept-fetches.ts";

export interface PartitionReaderParts {
  readonly brokers: Pick<BrokerQuestions, "ends">;
  readonly subscription: Subscription;
  readonly sink: DriverSink;
  readonly assignments: HeldPartitions;
  readonly control: PartitionControl;
  readonly handOver: HandOver;
  readonly commits: GroupCommits;
  readonly topicCheck: TopicRecheck;
  /** The record batches that were taken from the wire; null if kafkajs gets them. */
  readonly kept: KeptFetches | null;
  readonly fail: (error: Error) => void;
}

/** A batch that held nothing but control records and records of aborted transactions. */
export type EmptyBatch = ConsumerEndBatchProcessEvent["payload"];

/** Takes what kafkajs has fetched, and checks each gap before a batch: kafkajs itself skips records that retention has deleted. */
export class PartitionReader {
  readonly #parts: PartitionReaderParts;

  constructor(parts: PartitionReaderParts) {
    this.#parts = parts;
  }

  /** A batch with records. */
  async take(payload: EachBatchPayload): Promise<void> {
    const { batch } = payload;
    const held = this.#held(batch);
    // After a rebalance is announced, kafkajs still hands over the rest of the fetch. After a seek, it hands over an outdated batch.
    if (held !== null && !payload.isStale()) {
      await whileHeld(held, (still) => this.#take(payload, held, still));
    }
  }

  /** A batch without records. `eachBatch` never sees it. */
  takeEmpty({ topic, partition, batchSize, firstOffset, lastOffset, highWatermark }: EmptyBatch): void {
    const held = batchSize > 0 ? null : this.#held({ topic, partition });
    if (held === null) {
      return;
    }
    const batch = new FetchedAsMessages({ topic, partition, highWatermark, messages: [], lastOffset: () => lastOffset }, held.assignment);
    const first = firstOffset === null ? null : BigInt(firstOffset);
    if (held.gapCheck === undefined && !isLeap(held, first)) {
      this.#pass(batch, held, first);
      return;
    }
    const gapCheck = (held.gapCheck ?? Promise.resolve())
      .then(() => this.#passLeap(batch, held, first))
      .finally(() => {
        held.gapCheck = held.gapCheck === gapCheck ? undefined : held.gapCheck;
      });
    held.gapCheck = gapCheck;
  }

  #held({ topic, partition }: { readonly topic: string; readonly partition: number }): Held | null {
    const held = this.#parts.assignments.at(topic, partition);
    return held === undefined || held.isStarting || held.isOver ? null : held;
  }

  async #take(payload: EachBatchPayload, held: Held, still: StillHeld): Promise<void> {
    const { topicCheck, handOver, commits } = this.#parts;
    const { batch } = payload;
    if ((held.failedFetches !== held.checkedFetches || topicCheck.isDue) && !(await still(topicCheck.isSame(held)))) {
      return;
    }
    commits.noteRead();
    await still(held.gapCheck);
    if (!isNext(batch, held)) {
      await this.#investigate(held, still);
      return;
    }
    const next = this.#fetched(payload, held);
    const preparation = next?.prepare() ?? null;
    if (preparation !== null) {
      await still(preparation);
    }
    if (next !== null && handOver.hasRoom(held, next.byteLength)) {
      // Only here, because a batch that was investigated or left must be fetched again. Once resolved, it would not be.
      payload.resolveOffset(String(next.nextOffset - 1n));
      held.expected = next.nextOffset;
      await handOver.take(next, held);
    }
  }

  /** What was fetched. Null if it was kept for kafkajs, but not long enough. */
  #fetched({ batch }: EachBatchPayload, { assignment }: Held): Fetched | null {
    const { kept } = this.#parts;
    const [message] = batch.messages;
    if (kept === null || message === undefined || !kept.isStandIn(message)) {
      return new FetchedAsMessages(batch, assignment);
    }
    const bytes = kept.take(message);
    return bytes === undefined ? null : new FetchedAsBytes(bytes, assignment);
  }

  #pass(batch: Fetched, held: Held, first: bigint | null): void {
    if (first === null || held.expected === null || first >= held.expected) {
      held.expected = batch.nextOffset;
      void this.#parts.handOver.take(batch, held);
    } // if not, the batch was fetched before the last seek
  }

  /** A gap is left by compaction, or by retention. Only the ends of the log tell which of them it was. Never rejects. */
  async #passLeap(batch: Fetched, held: Held, first: bigint | null): Promise<void> {
    const { brokers, subscription, topicCheck } = this.#parts;
    const pass = async (still: StillHeld): Promise<void> => {
      if (isLeap(held, first)) {
        if (!(await still(topicCheck.isSame(held)))) {
          return;
        }
        const lost = await still(missingAt(brokers, held.assignment, held.expected));
        if (lost !== null) {
          await this.#loseIfSame(held, lost, still);
          return;
        }
      }
      this.#pass(batch, held, first);
    };
    await whileHeld(held, pass).catch((error: unknown) => {
      subscription.logger.warn({ err: error }, "the gap before a batch could not be checked; the batch is fetched again");
    });
  }

  /**
   * A batch that was not fetched at the end of the last one. If an offset is out of range, kafkajs moves the group to the start or the end of
   * the log without an error, and the offset of its next fetch shows it. If the log has the expected offset, as after the answer of a replica that
   * is behind its leader, kafkajs and the group are moved back.
   */
  async #investigate(held: Held, still: StillHeld): Promise<void> {
    const { brokers, control, subscription, topicCheck } = this.#parts;
    if (!(await still(topicCheck.isSame(held)))) {
      return;
    }
    const missing = missingAt(brokers, held.assignment, held.expected).catch((error: unknown) => {
      subscription.logger.warn({ err: error }, "the gap before a batch could not be checked; the batch is fetched again");
      return undefined;
    });
    const lost = await still(missing);
    if (lost === undefined) {
      return;
    }
    if (lost !== null) {
      await this.#loseIfSame(held, lost, still);
      return;
    }
    // Without ids, the log may be that of another topic which has grown past the position, and no commit may say that this was handled of it.
    if (held.assignment.topicId !== null) {
      if (!(await still(topicCheck.isStill(held)))) {
        return; // kafkajs fetches the batch again
      }
      await this.#putBack(held, still);
    }
    control.seek(held.assignment, held.expected ?? 0n);
  }

  /** If the log may have been that of another topic, what came is dropped, and kafkajs fetches it again. */
  async #loseIfSame(held: Held, lost: LostRange, still: StillHeld): Promise<void> {
    if (await still(this.#parts.topicCheck.isStill(held))) {
      await this.#lose(held, lost, still);
    }
  }

  /** Goes on after the lost range if the user has chosen that. If not, the session fails. */
  async #lose(held: Held, lost: LostRange, still: StillHeld): Promise<void> {
    const { control, fail, handOver, sink, subscription } = this.#parts;
    const { assignment } = held;
    await this.#putBack(held, still);
    const position = resumeOffset(lost, subscription.lostRange);
    if (position === null) {
      fail(lostRangeError(makeError, lost, subscription.groupId, subscription.startAt === undefined ? "group" : "sink"));
      return;
    }
    if (handOver.isBusy(held)) {
      // What was fetched before is handed over first: behind the range, it would be passed over. The partition is resumed after that, and the
      // next fetch finds the range again.
      control.hold(held, true);
      control.seek(assignment, held.expected ?? 0n);
      return;
    }
    held.expected = position;
    sink.skipped?.(assignment, lost, position);
    control.seek(assignment, position);
  }

  /** kafkajs has committed its new position already. Without this commit, the next start would not know what was handled. */
  async #putBack(held: Held, still: StillHeld): Promise<void> {
    const { commits, subscription } = this.#parts;
    const putBack = commits.putBackHandled(held).catch(() => {
      const { topic, partition } = held.assignment;
      subscription.logger.warn({ topic, partition }, "the group's offset could not be put back");
    });
    await still(putBack);
  }
}
