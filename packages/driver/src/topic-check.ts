import type { Logger } from "@cdckit/consumer";
import type { Assignments, HeldPartition } from "./assignments.ts";
import type { BrokerQuestions, TopicIdsByName } from "./broker-questions.ts";
import { topicsOf } from "./place.ts";

/** How old a check may be when a batch comes. A topic can hardly be deleted, created and filled again in this time. */
const minAgeMs = 100;
/** Slow brokers are asked less often: checks take at most a tenth of the time. */
const ageOfAnswer = 10;
const maxAgeMs = 1_000;
/** A batch that was handed over without a check is followed by one after this time. */
const afterBatchMs = 1_000;

/** What asking for the ids of topics needs of a driver. */
export interface TopicCheckParts<Held extends HeldPartition> {
  /** Answers which ids topics have. */
  readonly brokers: Pick<BrokerQuestions, "topicIds">;
  /** The partitions whose topic's id is known, and compared. */
  readonly assignments: Pick<Assignments<Held>, "identified">;
  /** Gets a warning if the brokers cannot be asked. */
  readonly logger: Logger;
  /** Called with partitions whose topic was recreated. */
  readonly recreated: (held: readonly Held[]) => void;
}

/**
 * Checks whether the topics are still the ones that the positions belong to. Clients fetch by name: if a topic is deleted and created again
 * between two fetches, they go on in the middle of the new topic. A commit at that moment does no harm, because it names its topic's id.
 */
export class TopicCheck<Held extends HeldPartition> {
  readonly #parts: TopicCheckParts<Held>;
  /** Ids of topics that were deleted. A broker that is late may still answer with one. */
  readonly #gone = new Set<string>();
  #dueAtMs = -Infinity;
  #looking: Promise<TopicIdsByName | null> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(parts: TopicCheckParts<Held>) {
    this.#parts = parts;
  }

  /** Whether a batch that has just come must wait for a check. */
  get isDue(): boolean {
    return performance.now() > this.#dueAtMs;
  }

  /**
   * A batch has come: the topics are checked after it, whether it waits for a check or not. Without an answer about a topic that is held, the
   * check is made again: no later batch may ever come.
   */
  followBatch(): void {
    if (this.#isStopped) {
      return;
    }
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.look().then((ids) => {
        if (ids === null || this.#parts.assignments.identified().some(({ assignment }) => !ids.has(assignment.topic))) {
          this.followBatch();
        }
      });
    }, afterBatchMs);
  }

  /**
   * Checks the topics of all partitions that are held. Resolves with the ids of those that exist, or with null if no broker answered; it is tried
   * again after a batch then, for as long as it takes. Never rejects: without an answer, nothing suggests another topic.
   */
  look(): Promise<TopicIdsByName | null> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  /** A check that begins after this call. One that is under way may have been answered before what the caller has seen. */
  async lookAgain(): Promise<TopicIdsByName | null> {
    await this.#looking;
    return this.look();
  }

  /**
   * Whether the topic of a partition is still the one that is held. To be asked after what the brokers say of its log, and before anything
   * follows from that: the topic may have been deleted and created again since the last check, and then they spoke of the log of the new one.
   * False also if nobody knows the topic at this moment. True without topic ids.
   */
  async isStill({ assignment: { topic, topicId } }: Held): Promise<boolean> {
    return topicId === null || (await this.lookAgain())?.get(topic) === topicId;
  }

  /** Asks no more. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  async #look(): Promise<TopicIdsByName | null> {
    const { brokers, assignments, logger, recreated } = this.#parts;
    const known = assignments.identified();
    const askedAtMs = performance.now();
    let ids: TopicIdsByName | null = null;
    try {
      const answered = await brokers.topicIds(topicsOf(known.map(({ assignment }) => assignment)));
      const current = new Map([...answered].filter(([, id]) => id !== null && !this.#gone.has(id)));
      const others = known.filter(({ assignment, isOver, isGoing }) => {
        const id = current.get(assignment.topic);
        return id !== undefined && id !== assignment.topicId && !isOver && !isGoing;
      });
      if (others.length > 0 && !this.#isStopped) {
        others.forEach(({ assignment }) => this.#gone.add(assignment.topicId ?? ""));
        recreated(others);
      }
      ids = current;
    } catch (error) {
      if (!this.#isStopped) {
        logger.warn({ err: error }, "the topics could not be checked; they are checked again in a second");
      }
    }
    const tookMs = performance.now() - askedAtMs;
    this.#dueAtMs = askedAtMs + Math.min(maxAgeMs, Math.max(minAgeMs, tookMs * ageOfAnswer));
    return ids;
  }
}
