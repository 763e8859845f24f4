import type { Logger } from "@cdckit/consumer";
import type { Assignments, Held } from "./assignments.ts";
import { recreatedOf } from "./log-guard.ts";
import type { BrokerOffsets } from "./broker-offsets.ts";
import { lostRangeError } from "./lost-range.ts";

/** So old may be what is known of the topics when the next batch comes: a topic is hardly deleted, created and filled again in this time. */
const minAgeMs = 100;
/** Brokers that answer slowly, or have much to tell, are asked less often: looking takes at most a tenth of the time. */
const ageOfAnswer = 10;
const maxAgeMs = 1_000;
/** A batch that came without a look is looked at after so long. */
const afterBatchMs = 1_000;

export interface TopicCheckParts {
  readonly brokerOffsets: BrokerOffsets;
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
  #looking: Promise<void> | undefined;
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

  /** Whether the topic is another one by now: the assignment is over then. */
  async isRecreated(held: Held): Promise<boolean> {
    const { brokerOffsets, groupId, assignments, failed } = this.#parts;
    await this.look();
    const lost = held.needsRecheck && held.assignment.topicId === null ? await recreatedOf(brokerOffsets, groupId, held) : null;
    held.needsRecheck = false;
    if (lost !== null) {
      failed(lostRangeError(lost, groupId));
    }
    return lost !== null || assignments.held(held.assignment) !== held;
  }

  /** Looks at all partitions that are held. If the brokers do not answer, a later batch makes it look again. Never rejects. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  async #look(): Promise<void> {
    const { brokerOffsets, assignments, logger, recreated } = this.#parts;
    const known = assignments.identified();
    const askedAtMs = performance.now();
    try {
      const ids = await brokerOffsets.topicIds([...new Set(known.map(({ assignment }) => assignment.topic))]);
      const others = known.filter(({ assignment }) => {
        const id = ids.get(assignment.topic);
        return id !== undefined && id !== assignment.topicId && assignments.isCurrent(assignment);
      });
      if (others.length > 0 && !this.#isStopped) {
        recreated(others);
      }
    } catch (error) {
      if (!this.#isStopped) {
        logger.warn({ err: error }, "the ids of the topics could not be asked for; they are asked for again with a later batch");
      }
    }
    const tookMs = performance.now() - askedAtMs;
    this.#dueAtMs = askedAtMs + Math.min(maxAgeMs, Math.max(minAgeMs, tookMs * ageOfAnswer));
  }
}
