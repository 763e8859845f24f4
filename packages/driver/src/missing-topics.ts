import type { DriverSink, OpenWait } from "@cdckit/consumer";
import type { BrokerQuestions, TopicIdsByName } from "./broker-questions.ts";
import type { MakeDriverError } from "./errors.ts";

/** What reporting deleted topics needs of a driver. */
export interface MissingTopicsParts {
  /** Answers which topics there are. */
  readonly brokers: Pick<BrokerQuestions, "topicIds">;
  /** The subscription. What it names is waited for. What a regular expression has matched may go for good. */
  readonly wanted: readonly (string | RegExp)[];
  /** Gets the waits. */
  readonly sink: Pick<DriverSink, "waiting">;
  /** The brokers' addresses. */
  readonly host: string;
  /** Milliseconds between two questions, as long as no topic is missing. */
  readonly intervalMs: number;
  /** Makes the driver's error. */
  readonly makeError: MakeDriverError;
}

/** While a topic is missing, the brokers are asked again after this time. */
const missingPauseMs = 1_000;

/**
 * Reports topics of the subscription that were deleted. A group takes the partitions of such a topic from its members, and nobody reports what
 * nobody holds: the consumer would look well. Each is a wait until there is a topic of that name again.
 */
export class MissingTopics {
  readonly #parts: MissingTopicsParts;
  readonly #names: readonly string[];
  /** What the last answer said is missing. The wait begins with the second one: a broker may be late. */
  readonly #missing = new Map<string, OpenWait | null>();
  #timer: NodeJS.Timeout | undefined;
  #isLooking = false;
  #isStopped = false;

  constructor(parts: MissingTopicsParts) {
    this.#parts = parts;
    this.#names = parts.wanted.filter((topic) => typeof topic === "string");
  }

  /** Asks from time to time. */
  start(): void {
    clearTimeout(this.#timer);
    if (!this.#isStopped && this.#names.length > 0) {
      const { intervalMs } = this.#parts;
      this.#timer = setTimeout(() => this.look(), this.#missing.size > 0 ? Math.min(missingPauseMs, intervalMs) : intervalMs);
    }
  }

  /** Asks now, because something suggests that a topic is gone. */
  look(): void {
    if (!this.#isLooking && !this.#isStopped && this.#names.length > 0) {
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
    this.#missing.forEach((wait) => wait?.end());
  }

  /** Without an answer, nothing suggests that a topic is gone or has come back. */
  async #look(): Promise<void> {
    const ids = await this.#parts.brokers.topicIds(this.#names).catch(() => null);
    if (ids !== null && !this.#isStopped) {
      this.#note(ids);
    }
  }

  #note(ids: TopicIdsByName): void {
    const { sink, host, makeError } = this.#parts;
    for (const topic of this.#names) {
      const open = this.#missing.get(topic);
      if (ids.get(topic) !== null) {
        open?.end();
        this.#missing.delete(topic);
      } else if (open === undefined) {
        this.#missing.set(topic, null);
      } else {
        const wait = open ?? sink.waiting?.({ what: "the topic", host, place: topic });
        this.#missing.set(topic, wait ?? null);
        wait?.failed(makeError("topic-missing", `there is no topic ${topic} any more. It is read when there is one of that name again`));
      }
    }
  }
}
