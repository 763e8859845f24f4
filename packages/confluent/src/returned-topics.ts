import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "@cdckit/consumer";
import { topicsOf, type BrokerQuestions } from "@cdckit/driver";
import type { HeldPartitions } from "./assignments.ts";

export interface ReturnedTopicsParts {
  readonly brokers: Pick<BrokerQuestions, "partitionsOf">;
  readonly assignments: Pick<HeldPartitions, "all" | "readBefore">;
  /** The topics that are subscribed. */
  readonly topics: () => readonly string[];
  /** Joins the group again. */
  readonly rejoin: () => void;
  readonly logger: Logger;
  /** Aborted when the session is over. */
  readonly over: AbortSignal;
  /** Resolves after this time; rejects when the session is over. */
  readonly pass?: (ms: number) => Promise<void>;
}

/** A group needs this time at most to give partitions out, if its members are well. */
const firstWaitMs = 3_000;
const maxWaitMs = 24_000;
/** Another member may have all of them by now: after so many times this one is content. */
const maxRejoins = 3;

/**
 * Joins the group again if a topic has come back and this member has none of its partitions, although it had some. When a topic is deleted and created again, librdkafka
 * leaves it out, and takes it in again when a broker knows it. The leader of the group then asks a broker for its partitions. If that broker is late
 * and knows none, it gives none to anybody, and does not ask again (seen with 2.15.1 on three brokers, each sixth time).
 */
export class ReturnedTopics {
  readonly #parts: ReturnedTopicsParts;
  #isWatching = false;

  constructor(parts: ReturnedTopicsParts) {
    this.#parts = parts;
  }

  /** A topic of the subscription is not known. Never rejects. */
  async watch(): Promise<void> {
    if (!this.#isWatching && !this.#parts.over.aborted) {
      this.#isWatching = true;
      await this.#untilHeld().catch(() => {}); // the session is over
      this.#isWatching = false;
    }
  }

  async #untilHeld(): Promise<void> {
    const { over, rejoin, logger, pass = (ms) => delay(ms, undefined, { signal: over }) } = this.#parts;
    for (let [rejoins, waitMs] = [0, firstWaitMs]; rejoins < maxRejoins; waitMs = Math.min(2 * waitMs, maxWaitMs)) {
      await pass(waitMs);
      const { missing, unheld } = await this.#look();
      over.throwIfAborted();
      if (unheld.length > 0) {
        rejoins++;
        logger.warn(
          { topics: unheld },
          "these topics have come back, and the group has given none of their partitions to this member: it joins again",
        );
        rejoin();
      } else if (missing.length === 0) {
        return;
      }
    }
  }

  /** `missing`: topics that no broker knows. `unheld`: topics that there are, and of which this member has read partitions and has none. */
  async #look(): Promise<{ readonly missing: readonly string[]; readonly unheld: readonly string[] }> {
    const { brokers, assignments, topics, logger } = this.#parts;
    try {
      const partitions = await brokers.partitionsOf(topics());
      const known = new Set(topicsOf(partitions));
      const read = new Set(topicsOf(partitions.filter((place) => assignments.readBefore(place) !== null)));
      const held = new Set(assignments.all().map(({ assignment }) => assignment.topic));
      return {
        missing: topics().filter((topic) => !known.has(topic)),
        unheld: [...read].filter((topic) => !held.has(topic)),
      };
    } catch (error) {
      logger.debug({ err: error }, "the topics could not be asked for; they are asked for again");
      return { missing: topics(), unheld: [] };
    }
  }
}
