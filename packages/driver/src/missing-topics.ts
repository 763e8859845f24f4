import type { DriverSink, OpenWait } from "@cdckit/consumer";
import type { BrokerQuestions } from "./broker-questions.ts";
import type { MakeDriverError } from "./errors.ts";

/** What looking for deleted topics needs. */
export interface MissingTopicsParts {
  /** Answers which topics there are. */
  readonly brokers: Pick<BrokerQuestions, "topicIds">;
  /** The topics that are asked about. */
  readonly asked: () => readonly string[];
  /** Those that the subscription names, which are waited for. What a regular expression has matched may go for good. */
  readonly awaited: ReadonlySet<string>;
  /** Gets the waits. */
  readonly sink: Pick<DriverSink, "waiting">;
  /** The brokers' addresses. */
  readonly host: string;
  /** Milliseconds between two questions, as long as no topic is missing. */
  readonly intervalMs: number;
  /** Makes the driver's error. */
  readonly makeError: MakeDriverError;
  /** Called after each answer: these are missing, all others are there. */
  readonly answered: (missing: ReadonlySet<string>) => void;
}

/** While a topic of the subscription is missing, the brokers are asked again after this time. */
const missingPauseMs = 1_000;

interface MissingTopic {
  isCertain: boolean;
  /** Open for a topic that the subscription names. */
  wait: OpenWait | undefined;
}

/**
 * Reports topics of the subscription that were deleted. A group takes the partitions of such a topic from its members, and nobody reports what
 * nobody holds: the consumer would look well. Each is a wait until there is a topic of that name again.
 */
export class MissingTopics {
  readonly #parts: MissingTopicsParts;
  /** What the last answer said is missing. It counts from the second answer on: a broker may be late. */
  readonly #missing = new Map<string, MissingTopic>();
  #timer: NodeJS.Timeout | undefined;
  #isLooking = false;
  #isStopped = false;

  constructor(parts: MissingTopicsParts) {
    this.#parts = parts;
  }

  /** Asks from time to time. */
  start(): void {
    clearTimeout(this.#timer);
    if (!this.#isStopped && this.#parts.asked().length > 0) {
      const { awaited, intervalMs } = this.#parts;
      const isSoon = [...this.#missing].some(([topic, { isCertain }]) => !isCertain || awaited.has(topic));
      this.#timer = setTimeout(() => this.look(), isSoon ? Math.min(missingPauseMs, intervalMs) : intervalMs);
    }
  }

  /** Asks now, because something suggests that a topic is gone. */
  look(): void {
    if (!this.#isLooking && !this.#isStopped && this.#parts.asked().length > 0) {
      this.#isLooking = true;
      void this.#look().finally(() => {
        this.#isLooking = false;
        this.start();
      });
    }
  }

  /** Asks no more, and ends the waits. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#missing.forEach(({ wait }) => wait?.end());
  }

  /** Without an answer, nothing suggests that a topic is gone or has come back. */
  async #look(): Promise<void> {
    const { brokers, asked, answered } = this.#parts;
    const topics = asked();
    const ids = await brokers.topicIds(topics).catch(() => null);
    if (ids !== null && !this.#isStopped) {
      topics.forEach((topic) => this.#note(topic, ids.get(topic) === null));
      answered(new Set([...this.#missing].flatMap(([topic, { isCertain }]) => (isCertain ? [topic] : []))));
    }
  }

  #note(topic: string, isMissing: boolean): void {
    const { awaited, sink, host, makeError } = this.#parts;
    const seen = this.#missing.get(topic);
    if (!isMissing) {
      seen?.wait?.end();
      this.#missing.delete(topic);
    } else if (seen === undefined) {
      this.#missing.set(topic, { isCertain: false, wait: undefined });
    } else {
      seen.isCertain = true;
      if (awaited.has(topic)) {
        seen.wait ??= sink.waiting?.({ what: "the topic", host, place: topic });
        seen.wait?.failed(
          makeError("topic-missing", `there is no topic ${topic} any more. It is read when there is one of that name again`),
        );
      }
    }
  }
}
