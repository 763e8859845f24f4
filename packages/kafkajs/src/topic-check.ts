import type { Logger } from "@cdckit/consumer";
import type { Assignments, Held } from "./assignments.ts";
import { recreatedOf } from "./log-guard.ts";
import type { BrokerOffsets } from "./broker-offsets.ts";
import { lostRangeError } from "./lost-range.ts";
import type { TopicIdsByName } from "./metadata-request.ts";

/** So old may be what is known of the topics when the next batch comes: a topic is hardly deleted, created and filled again in this time. */
const minAgeMs = 100;
/** Brokers that answer slowly, or have much to tell, are asked less often: looking takes at most a tenth of the time. */
const ageOfAnswer = 10;
const maxAgeMs = 1_000;
/** A batch that came without a look is looked at after so long. */
const afterBatchMs = 1_000;

export interface TopicCheckParts {
  readonly brokerOffsets: Pick<BrokerOffsets, "topicIds" | "committed" | "ends" | "isReplaced">;
  readonly groupId: string;
  readonly assignments: Assignments;
  readonly logger: Logger;
  /** Told of partitions whose topic is another one now. */
  readonly recreated: (held: readonly Held[]) => void;
  /** Told of a topic that is another one now, and whose ids the brokers do not tell. */
  readonly failed: (error: Error) => void;
}

/**
 * Looks whether the topics are still those that the positions are of. kafkajs fetches by name, so that a topic which is deleted and created
 * again between two fetches goes on in the middle of the new one. A commit of that moment cannot go wrong: it has its topic's id.
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

  /** Whether a batch that has just come is to be handed over only after a look; if not, a look follows it. */
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
   * Looks whether the topic is the one that the partition was read of. If not, the assignment is over, or the session fails. False also if a
   * fetch has thrown and no look could follow: the batch is left then, and fetched again.
   */
  async isSame(held: Held): Promise<boolean> {
    if (held.failedFetches !== held.checkedFetches) {
      return await this.#isSameAfterFailure(held);
    }
    // If the brokers do not answer, the batch is handed over all the same: nothing speaks for another topic.
    await this.look();
    return !held.isOver;
  }

  async #isSameAfterFailure(held: Held): Promise<boolean> {
    const { brokerOffsets, groupId, failed } = this.#parts;
    const { topic, topicId } = held.assignment;
    // A look that is under way may have been answered before the fetch failed, and tell of the topic that was there then.
    await this.#looking;
    const { failedFetches } = held;
    const ids = await this.look();
    // Another broker may not know the new topic yet: an answer without the topic says nothing.
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
   * Looks at all partitions that are held, and tells what the brokers have answered; null if they have not. A later batch makes it look
   * again. Never rejects.
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
        logger.warn({ err: error }, "the ids of the topics could not be asked for; they are asked for again with a later batch");
      }
    }
    const tookMs = performance.now() - askedAtMs;
    this.#dueAtMs = askedAtMs + Math.min(maxAgeMs, Math.max(minAgeMs, tookMs * ageOfAnswer));
    return ids;
  }
}
