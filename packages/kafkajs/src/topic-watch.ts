import type { Logger } from "@cdckit/consumer";
import type { BrokerOffsets } from "./broker-offsets.ts";
import { wantedTopics } from "./preflight.ts";

export interface TopicWatchParts {
  readonly brokerOffsets: BrokerOffsets;
  readonly wanted: readonly (string | RegExp)[];
  /** Those that are consumed already. */
  readonly known: readonly string[];
  readonly intervalMs: number;
  readonly logger: Logger;
  /** Resolves when they are consumed. */
  readonly found: (topics: readonly string[]) => Promise<void>;
}

/** Looks from time to time for topics that a regular expression matches and that were not there before: kafkajs looks only once. */
export class TopicWatch {
  readonly #parts: TopicWatchParts;
  readonly #known: Set<string>;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(parts: TopicWatchParts) {
    this.#parts = parts;
    this.#known = new Set(parts.known);
  }

  /** Does nothing where every topic has a name. */
  start(): void {
    if (!this.#isStopped && this.#parts.wanted.some((topic) => typeof topic !== "string")) {
      this.#timer = setTimeout(() => void this.#look().finally(() => this.start()), this.#parts.intervalMs);
    }
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  async #look(): Promise<void> {
    const { brokerOffsets, wanted, logger, found } = this.#parts;
    try {
      const later = wantedTopics(wanted, await brokerOffsets.topics()).filter((topic) => !this.#known.has(topic));
      if (later.length > 0 && !this.#isStopped) {
        logger.info({ topics: later }, "topics that match were made; the group is joined anew with them");
        await found(later);
        for (const topic of later) {
          this.#known.add(topic);
        }
      }
    } catch (error) {
      if (!this.#isStopped) {
        logger.warn({ err: error }, "new topics could not be looked for; looking again later");
      }
    }
  }
}
