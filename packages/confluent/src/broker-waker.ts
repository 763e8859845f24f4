import { placeOf, RequestLine } from "@cdckit/driver";
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
  readonly #questions: RequestLine = new RequestLine();
  /** The partitions whose question waits for another one. */
  readonly #waiting = new Set<string>();
  #last: Promise<void> = Promise.resolve();
  #isOver = false;

  constructor(consumer: Pick<LowLevelConsumer, "queryWatermarkOffsets">) {
    this.#consumer = consumer;
  }

  wake(topic: string, partition: number): void {
    const place = placeOf(topic, partition);
    if (!this.#isOver && !this.#waiting.has(place)) {
      this.#waiting.add(place);
      this.#last = this.#questions.send(async () => {
        this.#waiting.delete(place);
        await this.#ask(topic, partition);
      });
    }
  }

  /** Resolves when no question is under way any more, and none will follow. */
  async end(): Promise<void> {
    this.#isOver = true;
    await this.#last;
  }

  async #ask(topic: string, partition: number): Promise<void> {
    if (!this.#isOver) {
      const answer = answerOf<unknown>((done) => this.#consumer.queryWatermarkOffsets(topic, partition, answerMs, done));
      await answer.catch(() => {}); // the question has woken the thread, whatever its answer is
    }
  }
}
