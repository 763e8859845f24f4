import type { Logger } from "@cdckit/consumer";
import type { Assignments, Held } from "./assignments.ts";
import { recreatedOf } from "./log-guard.ts";
import type { BrokerOffsets } from "./broker-offsets.ts";
import { lostRangeError } from "./lost-range.ts";
import type { TopicIdsByName } from "./metadata-request.ts";

/** How old a check may be when a batch comes. A topic can hardly be deleted, created and filled again in this time. */
const minAgeMs = 100;
/** Slow brokers are asked less often: checks take at most a tenth of the time. */
const ageOfAnswer = 10;
const maxAgeMs = 1_000;
/** A batch that was handed over without a check is followed by one after this time. */
const afterBatchMs = 1_000;

export interface TopicCheckParts {
  readonly brokerOffsets: Pick<BrokerOffsets, "topicIds" | "committed" | "ends" | "isReplaced">;
  readonly groupId: string;
  readonly assignments: Assignments;
  readonly logger: Logger;
  /** Called with partitions whose topic was recreated. */
  readonly recreated: (held: readonly Held[]) => void;
  /** Called if a topic was recreated on brokers without topic ids. */
  readonly failed: (error: Error) => void;
}

/**
 * Checks whether the topics are still the ones that the positions belong to. kafkajs fetches by name: if a topic is deleted and created again
 * between two fetches, kafkajs goes on in the middle of the new topic. A commit at that moment does no harm, because it names its topic's id.
 */
export class TopicCheck {
  readonly #parts: TopicCheckParts;
  #dueAtMs = -Infinity;
  #looking: Promise<TopicIdsByName | null> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(parts: TopicCheckParts) {
    this.#parts = parts;
  }

  /** Whether a batch that has just come must wait for a check. If not, a check follows it. */
  get isDue(): boolean {
    if (!this.#isStopped) {
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined;
        void this.look();
      }, afterBatchMs);
    }
    return performance.now() > this.#dueAtMs;
  }

  /**
   * Whether the topic is still the one that the partition was read from. If not, the assignment is over, or the session has failed. False also
   * if a fetch has thrown and the brokers did not answer the check after it. The batch is dropped then, and kafkajs fetches it again.
   */
  async isSame(held: Held): Promise<boolean> {
    if (held.failedFetches !== held.checkedFetches) {
      return await this.#isSameAfterFailure(held);
    }
    // If the brokers do not answer, the batch is handed over nevertheless: nothing suggests another topic.
    await this.look();
    return !held.isOver;
  }

  async #isSameAfterFailure(held: Held): Promise<boolean> {
    const { brokerOffsets, groupId, failed } = this.#parts;
    const { topic, topicId } = held.assignment;
    // A check that is under way may have been answered before the fetch failed. Its answer would be about the topic of that time.
    await this.#looking;
    const { failedFetches } = held;
    const ids = await this.look();
    // An answer without the topic says nothing: the broker may not know the new topic yet.
    if (held.isOver || ids === null || (topicId !== null && !ids.has(topic))) {
      return false;
    }
    const lost = topicId === null ? await recreatedOf(brokerOffsets, groupId, held) : null;
    if (held.isOver) {
      return false;
    }
    if (lost !== null) {
      failed(lostRangeError(lost, groupId));
      return false;
    }
    held.checkedFetches = failedFetches;
    return true;
  }

  /**
   * Checks the topics of all partitions that are held. Resolves with the brokers' answer, or with null if there is none; a later batch causes
   * the next check then. Never rejects.
   */
  look(): Promise<TopicIdsByName | null> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  async #look(): Promise<TopicIdsByName | null> {
    const { brokerOffsets, assignments, logger, recreated } = this.#parts;
    const known = assignments.identified();
    const askedAtMs = performance.now();
    let ids: TopicIdsByName | null = null;
    try {
      const answered = await brokerOffsets.topicIds([...new Set(known.map(({ assignment }) => assignment.topic))]);
      const others = known.filter(({ assignment, isOver, isGoing }) => {
        const id = answered.get(assignment.topic);
        return id !== undefined && id !== assignment.topicId && !isOver && !isGoing;
      });
      if (others.length > 0 && !this.#isStopped) {
        recreated(others);
      }
      ids = answered;
    } catch (error) {
      if (!this.#isStopped) {
        logger.warn({ err: error }, "the topics could not be checked; a later batch causes the next check");
      }
    }
    const tookMs = performance.now() - askedAtMs;
    this.#dueAtMs = askedAtMs + Math.min(maxAgeMs, Math.max(minAgeMs, tookMs * ageOfAnswer));
    return ids;
  }
}
