import { setImmediate as nextTurn } from "node:timers/promises";
import { answerOf, type ClientError, type ClientMessage, type LowLevelConsumer, type TopicPartitionOffset } from "./low-level-client.ts";

/** What was taken from the client at once. */
export interface Taken {
  readonly messages: readonly ClientMessage[];
  /** Partitions that were read to their ends, and the offsets after that. */
  readonly ends: readonly TopicPartitionOffset[];
  /** If it is not null, there are no messages. The client does not say which partition it is about. */
  readonly error: ClientError | null;
}

export interface ConsumeLoopParts {
  readonly consumer: LowLevelConsumer;
  readonly maxRecords: number;
  /** Never rejects. The next records are taken after it has resolved. */
  readonly take: (taken: Taken) => Promise<void> | undefined;
}

/** After this time the client is asked again even if it has not said that it has something. It counts as a poll of the group's member. */
const idleMs = 200;

/**
 * Takes records from the client, one call after the other. The client answers at once with what is there, so that no thread of libuv waits in
 * it. When there is nothing, the loop waits until the client says that it has something.
 *
 * What moves partitions in the client is done between two calls. Otherwise a call that is under way could bring records from before the move,
 * and they would be taken for records from after it.
 */
export class ConsumeLoop {
  readonly #parts: ConsumeLoopParts;
  readonly #between: (() => void)[] = [];
  readonly #afterCall: (() => void)[] = [];
  readonly #ends: TopicPartitionOffset[] = [];
  #isAwake = false;
  #wake: () => void = () => {};
  #isStopped = false;
  #running: Promise<void> = Promise.resolve();

  constructor(parts: ConsumeLoopParts) {
    this.#parts = parts;
    parts.consumer.setDefaultConsumeTimeout(0);
    parts.consumer.on("partition.eof", (end: TopicPartitionOffset) => this.#ends.push(end));
  }

  start(): void {
    this.#running = this.#run();
  }

  /** The client has something, or there is something to do between two calls. */
  wake(): void {
    this.#isAwake = true;
    this.#wake();
  }

  /** Does the work while no call is under way. It must not throw. */
  between(work: () => void): void {
    this.#between.push(work);
    this.wake();
  }

  /**
   * The same, after the next call has brought what the client had queued before it, rebalances among that. A call that brings an error ends there:
   * then it is the one after it. To be asked for between two calls.
   */
  afterCall(work: () => void): void {
    this.#afterCall.push(work);
    this.wake();
  }

  /** Resolves when no call is under way any more, and none will follow. */
  stop(): Promise<void> {
    this.#isStopped = true;
    this.wake();
    return this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      this.#isAwake = false;
      if (this.#between.length > 0) {
        await nextTurn(); // the rebalances that a call brings may be told after its answer, in the same turn of the event loop
      }
      this.#doBetween();
      const taken = await this.#consume();
      if (taken.error === null) {
        this.#between.push(...this.#afterCall.splice(0));
      }
      const isEmpty = taken.error === null && taken.messages.length === 0 && taken.ends.length === 0;
      if (!isEmpty && !this.#isStopped) {
        const busy = this.#parts.take(taken);
        if (busy !== undefined) {
          await busy;
        }
      }
      if (isEmpty && !this.#isAwake && this.#between.length === 0 && !this.#isStopped) {
        await this.#untilAwake();
      }
    }
    this.#doBetween();
  }

  #doBetween(): void {
    for (const work of this.#between.splice(0)) {
      work();
    }
  }

  async #consume(): Promise<Taken> {
    const { consumer, maxRecords } = this.#parts;
    try {
      const messages = await answerOf<readonly ClientMessage[]>((done) => consumer.consume(maxRecords, done));
      return { messages, ends: this.#ends.splice(0), error: null };
    } catch (error) {
      return { messages: [], ends: this.#ends.splice(0), error: error as ClientError };
    }
  }

  #untilAwake(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, idleMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
