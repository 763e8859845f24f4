import type { DriverSink, Subscription } from "@cdckit/consumer";
import type { BrokerQuestions } from "./broker-questions.ts";
import type { MakeDriverError } from "./errors.ts";
import { MissingTopics } from "./missing-topics.ts";
import { wantedTopics } from "./preflight.ts";

/** What watching the topics of a subscription needs of a driver. */
export interface TopicWatchParts {
  /** Answers which topics there are. */
  readonly brokers: Pick<BrokerQuestions, "topics" | "topicIds">;
  /** Its topics are names, and regular expressions over names. Its logger gets a line for new topics, and a warning if the brokers cannot be asked. */
  readonly subscription: Pick<Subscription, "topics" | "logger">;
  /** Gets a wait for each topic that was deleted. */
  readonly sink: Pick<DriverSink, "waiting">;
  /** The brokers' addresses. */
  readonly host: string;
  /** The topics that are consumed already. */
  readonly known: readonly string[];
  /** Milliseconds between two questions. */
  readonly intervalMs: number;
  /** Makes the driver's error. */
  readonly makeError: MakeDriverError;
  /** Resolves when these topics are consumed. */
  readonly found: (topics: readonly string[]) => Promise<void>;
  /** For a client that reads nothing while one of its topics is missing. Called after each answer: these are missing, all others are there. */
  readonly readAllBut?: (missing: ReadonlySet<string>) => void;
}

/**
 * Looks from time to time for new topics that a regular expression matches, because clients look only once, or read expressions of another dialect;
 * and for topics that were deleted.
 */
export class TopicWatch {
  readonly #parts: TopicWatchParts;
  readonly #known: Set<string>;
  readonly #missing: MissingTopics;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(parts: TopicWatchParts) {
    this.#parts = parts;
    this.#known = new Set(parts.known);
    const { readAllBut } = parts;
    const names = parts.subscription.topics.filter((topic) => typeof topic === "string");
    this.#missing = new MissingTopics({
      ...parts,
      awaited: new Set(names),
      asked: () => (readAllBut === undefined ? names : [...this.#known]),
      answered: readAllBut ?? ((): void => {}),
    });
  }

  /** Asks from time to time. */
  start(): void {
    this.#startLooking();
    this.#missing.start();
  }

  /** Something suggests that a topic is gone: the brokers are asked now. */
  suspectMissing(): void {
    this.#missing.look();
  }

  /** Asks no more, and ends the waits. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#missing.stop();
  }

  /** Without a regular expression, no topic can be new. */
  #startLooking(): void {
    const { subscription, intervalMs } = this.#parts;
    if (!this.#isStopped && subscription.topics.some((topic) => typeof topic !== "string")) {
      this.#timer = setTimeout(() => void this.#look().finally(() => this.#startLooking()), intervalMs);
    }
  }

  async #look(): Promise<void> {
    const { brokers, subscription, found } = this.#parts;
    const { logger } = subscription;
    try {
      const later = wantedTopics(subscription.topics, await brokers.topics()).filter((topic) => !this.#known.has(topic));
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
