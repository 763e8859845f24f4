import type { Logger } from "@cdckit/consumer";
import type { BrokerQuestions } from "./broker-questions.ts";
import { wantedTopics } from "./preflight.ts";

/** What looking for new topics needs of a driver. */
export interface TopicWatchParts {
  /** Answers which topics there are. */
  readonly brokers: Pick<BrokerQuestions, "topics">;
  /** The subscription: names of topics, and regular expressions over names. */
  readonly wanted: readonly (string | RegExp)[];
  /** The topics that are consumed already. */
  readonly known: readonly string[];
  /** Milliseconds between two questions. */
  readonly intervalMs: number;
  /** Gets a line for new topics, and a warning if the brokers cannot be asked. */
  readonly logger: Logger;
  /** Resolves when these topics are consumed. */
  readonly found: (topics: readonly string[]) => Promise<void>;
}

/** Looks from time to time for new topics that a regular expression matches: clients look only once, or read expressions of another dialect. */
export class TopicWatch {
  readonly #parts: TopicWatchParts;
  readonly #known: Set<string>;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(parts: TopicWatchParts) {
    this.#parts = parts;
    this.#known = new Set(parts.known);
  }

  /** Does nothing if the subscription has no regular expression. */
  start(): void {
    if (!this.#isStopped && this.#parts.wanted.some((topic) => typeof topic !== "string")) {
      this.#timer = setTimeout(() => void this.#look().finally(() => this.start()), this.#parts.intervalMs);
    }
  }

  /** Looks no more for topics. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  async #look(): Promise<void> {
    const { brokers, wanted, logger, found } = this.#parts;
    try {
      const later = wantedTopics(wanted, await brokers.topics()).filter((topic) => !this.#known.has(topic));
      if (later.length > 0 && !this.#isStopped) {
        logger.info({ topics: later }, "new topics match the subscription; the group is joined again with them");
        await found(later);
        for (const topic of later) {
          this.#known.add(topic);
        }
      }
    } catch (error) {
      if (!this.#isStopped) {
        logger.warn({ err: error }, "the topics could not be listed; new topics are looked for again later");
      }
    }
  }
}
