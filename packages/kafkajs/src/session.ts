import type { DriverSession, DriverSink, Logger, OffsetCommit, PartitionAssignment } from "@cdckit/consumer";
import type { Batch, Consumer, EachBatchPayload } from "kafkajs";
import { Assignments, toKafkaJsOffsets } from "./assignments.ts";
import { KafkaJsDriverError } from "./errors.ts";
import { explainFailure } from "./explain-failure.ts";
import { keepBeating } from "./heartbeat.ts";
import { MessageBatch } from "./message-batch.ts";
import type { ResolvedKafkaJsOptions } from "./options.ts";

export interface SessionParts {
  readonly consumer: Consumer;
  readonly sink: DriverSink;
  readonly logger: Logger;
  readonly tuning: ResolvedKafkaJsOptions["tuning"];
  /** As they appear in messages. */
  readonly brokers: string;
  /** Ends every socket, where the driver has made them. */
  readonly destroySockets: () => void;
}

/** The batch knows the offset that was asked for; kafkajs' types do not say so. */
type BatchWithFetchedOffset = Batch & { readonly fetchedOffset?: string };

/** A membership in the group. kafkajs' defects that it works around are told where the work-around is. */
export class KafkaJsSession implements DriverSession {
  readonly #parts: SessionParts;
  readonly #assignments: Assignments = new Assignments();
  /**
   * Commits of the generation that the last batch came in. kafkajs' `commitOffsets` would try again after a failure, and then with the
   * generation of that later moment: it would commit what was handled before a rebalance over what the new owner has committed.
   */
  #commitInGeneration: EachBatchPayload["commitOffsetsIfNecessary"] | undefined;
  #closing: Promise<void> | undefined;
  #hasFailed = false;

  constructor(parts: SessionParts) {
    this.#parts = parts;
  }

  /** Starts consuming the topics that the consumer has subscribed to. */
  async run(): Promise<void> {
    const { consumer, tuning } = this.#parts;
    this.#listen();
    await consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: tuning.partitionsConsumedConcurrently,
      eachBatch: (payload) => this.#eachBatch(payload),
    });
  }

  async commit(offsets: readonly OffsetCommit[]): Promise<void> {
    const current = offsets.filter(({ assignment }) => this.#assignments.isCurrent(assignment));
    if (current.length > 0) {
      await this.#commitInGeneration?.(toKafkaJsOffsets(current));
    }
  }

  pause(assignments: readonly PartitionAssignment[]): void {
    this.#parts.consumer.pause(assignments.map(({ topic, partition }) => ({ topic, partitions: [partition] })));
  }

  resume(assignments: readonly PartitionAssignment[]): void {
    this.#parts.consumer.resume(assignments.map(({ topic, partition }) => ({ topic, partitions: [partition] })));
  }

  close(deadlineMs: number): Promise<void> {
    this.#closing ??= this.#close(deadlineMs);
    return this.#closing;
  }

  async #close(deadlineMs: number): Promise<void> {
    this.#assignments.clear();
    const { consumer, destroySockets, logger } = this.#parts;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(() => {
        logger.warn({ deadlineMs }, "kafkajs did not disconnect in time; its sockets are ended");
        destroySockets();
        resolve();
      }, deadlineMs);
    });
    const disconnected = consumer.disconnect().catch((error: unknown) => {
      logger.warn({ err: error }, "kafkajs failed while it disconnected");
    });
    await Promise.race([disconnected, late]);
    clearTimeout(timer);
  }

  #listen(): void {
    const { consumer } = this.#parts;
    const { GROUP_JOIN, REBALANCING, CRASH, END_BATCH_PROCESS } = consumer.events;
    consumer.on(GROUP_JOIN, ({ payload }) => this.#joined(payload.memberAssignment));
    // kafkajs goes on to join at once, whatever a listener does: what is handled by now is committed in the same turn, before its request.
    consumer.on(REBALANCING, () => void this.#giveUp("revoked"));
    consumer.on(CRASH, ({ payload }) => this.#crashed(payload.error, payload.restart));
    // Also told of batches that held nothing but control records, which eachBatch never sees.
    consumer.on(END_BATCH_PROCESS, ({ payload }) =>
      this.#assignments.passed(payload.topic, payload.partition, BigInt(payload.lastOffset) + 1n),
    );
  }

  #joined(memberAssignment: Readonly<Record<string, readonly number[]>>): void {
    if (this.#closing !== undefined) {
      return;
    }
    // A join without a word before: the session had run out, or the topics' metadata changed.
    void this.#giveUp("lost");
    this.#parts.sink.assigned(this.#assignments.renew(memberAssignment));
  }

  #crashed(error: Error, restarts: boolean): void {
    if (this.#closing !== undefined) {
      return;
    }
    void this.#giveUp("lost");
    const explained = explainFailure(error, this.#parts.brokers);
    if (restarts) {
      this.#parts.logger.warn({ err: explained }, "kafkajs lost its connection, and connects again");
    } else {
      this.#parts.sink.failed(explained);
    }
  }

  /** Gives all partitions up. Revoked ones can be committed until the sink is done with them. */
  async #giveUp(how: "revoked" | "lost"): Promise<void> {
    const going = this.#assignments.current();
    if (going.length === 0) {
      return;
    }
    if (how === "lost") {
      this.#assignments.clear();
    }
    await this.#parts.sink.revoked(going, how);
    if (going.some((assignment) => this.#assignments.isCurrent(assignment))) {
      this.#assignments.clear();
    }
  }

  async #eachBatch(payload: EachBatchPayload): Promise<void> {
    const { batch, heartbeat } = payload;
    const assignment = this.#assignments.of(batch.topic, batch.partition);
    // After a rebalance was announced, kafkajs still hands over the rest of the fetch, and after a seek an outdated one.
    if (assignment === undefined || this.#closing !== undefined || this.#hasFailed || payload.isStale()) {
      return;
    }
    if (!this.#continues(batch, assignment, payload)) {
      return;
    }
    this.#commitInGeneration = payload.commitOffsetsIfNecessary;
    const handled = this.#parts.sink.batch(new MessageBatch(batch, assignment));
    if (handled !== undefined) {
      const rebalance = await keepBeating(handled, heartbeat, this.#parts.tuning.heartbeatIntervalMs, (how) => this.#giveUp(how));
      if (rebalance !== null) {
        throw rebalance;
      }
    }
    if (this.#assignments.isCurrent(assignment)) {
      payload.resolveOffset(batch.lastOffset());
    }
  }

  /**
   * Whether the batch was fetched where the last one ended. kafkajs answers an offset that is out of range by moving the group to the
   * start or the end of the log, without an error; the offset that it then asks for tells.
   */
  #continues(batch: BatchWithFetchedOffset, assignment: PartitionAssignment, payload: EachBatchPayload): boolean {
    const expected = this.#assignments.expectedOf(batch.topic, batch.partition);
    if (expected === null || batch.fetchedOffset === undefined || BigInt(batch.fetchedOffset) === expected) {
      return true;
    }
    this.#hasFailed = true;
    const { topic, partition } = assignment;
    const error = new KafkaJsDriverError(
      "offset-out-of-range",
      `${topic}[${partition}]: offset ${expected} is not in the log any more, and kafkajs went on at ${batch.fetchedOffset}. ` +
        "Decide where to go on, and set the group's offset (kafka-consumer-groups --reset-offsets)",
    );
    // kafkajs has committed the new position already: without this, the next start would not notice.
    void payload
      .commitOffsetsIfNecessary(toKafkaJsOffsets([{ assignment, offset: expected }]))
      .catch(() => {
        this.#parts.logger.warn({ topic, partition, offset: expected }, "the group's offset could not be put back");
      })
      .then(() => this.#parts.sink.failed(error));
    return false;
  }
}
