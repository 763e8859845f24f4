import { answerOf, type LowLevelConsumer } from "./low-level-client.ts";

/** An answer takes milliseconds. A question that gets none holds a thread of libuv for so long. */
const answerMs = 1_000;

/**
 * Wakes librdkafka's thread for the leader of a partition whose fetches were resumed. librdkafka itself does not: the thread sleeps until
 * something else comes, or for a second (seen with 2.15.1), and a consumer with slow handlers would stand still so long after each pause. A question
 * to the leader ends the sleep. One question is under way at a time.
 */
export class BrokerWaker {
  readonly #consumer: Pick<LowLevelConsumer, "queryWatermarkOffsets">;
  /** Partitions to ask about, by place. */
  readonly #due = new Map<string, readonly [topic: string, partition: number]>();
  #asking: Promise<void> | null = null;
  #isOver = false;

  constructor(consumer: Pick<LowLevelConsumer, "queryWatermarkOffsets">) {
    this.#consumer = consumer;
  }

  wake(topic: string, partition: number): void {
    if (!this.#isOver) {
      this.#due.set(`${topic}[${partition}]`, [topic, partition]);
      this.#asking ??= this.#ask().finally(() => {
        this.#asking = null;
      });
    }
  }

  /** Resolves when no question is under way any more, and none will follow. */
  async end(): Promise<void> {
    this.#isOver = true;
    this.#due.clear();
    await this.#asking;
  }

  async #ask(): Promise<void> {
    for (const [place, [topic, partition]] of this.#due) {
      this.#due.delete(place);
      const answer = answerOf<unknown>((done) => this.#consumer.queryWatermarkOffsets(topic, partition, answerMs, done));
      await answer.catch(() => {}); // the question has woken the thread, whatever its answer is
    }
  }
}
