import { setTimeout as delay } from "node:timers/promises";
import type { OffsetCommit, OutgoingRecord, PartitionAssignment } from "@cdckit/consumer";
import { bounded, isOfAnotherTopic, placeOf, TransactionOffsets } from "@cdckit/driver";
import type { Transaction } from "kafkajs";
import { type HeldPartitions, toKafkaJsOffsets } from "./assignments.ts";
import type { DueJoin } from "./due-join.ts";
import { KafkaJsDriverError, makeError } from "./errors.ts";
import type { BrokerOffsets } from "./broker-offsets.ts";
import { connected, letGoOpening, type MakeProducer, type OwnProducer, producerRetry, writeDeadlineMs } from "./own-producer.ts";
import { transactionalIdOf } from "./transactional-id.ts";
import { asFenced, writeFailures } from "./write-failures.ts";
import { writeRecords } from "./write-records.ts";

export interface TransactionParts {
  readonly groupId: string;
  readonly makeProducer: MakeProducer;
  readonly brokerOffsets: BrokerOffsets;
  readonly assignments: HeldPartitions;
  /** Hears of a partition for which another producer writes, although this member holds it, or did when it had started. Only the group knows whose it is. */
  readonly fences: Pick<DueJoin, "fenced" | "written">;
  /** Nothing is waited for after it. */
  readonly ended: AbortSignal;
}

interface Opened {
  readonly own: OwnProducer;
  /** The old owner's last transaction may have ended after this assignment started. Nothing is written before this was checked. */
  isChecked: boolean;
}

const concurrentDeadlineMs = 5_000;
const concurrentPauseMs = 5;

/**
 * Writes and commits in one transaction. kafkajs sends no generation with the offsets, so the broker cannot refuse those of an old member. The
 * transactional id fences instead, one for each partition of the group. The first transaction of a new owner fences off the old owner's
 * producer for ever, and then checks whether the old owner has committed since this assignment started.
 */
export class Transactions {
  readonly #parts: TransactionParts;
  /** An assignment that is fenced stays so: a retry would make a new producer, which would fence off the new owner. */
  readonly #offsets: TransactionOffsets;
  readonly #opened = new Map<PartitionAssignment, Promise<Opened>>();
  /** Assignments whose transaction is under way. */
  readonly #running = new Set<PartitionAssignment>();
  /** Settled when the producers that were let go are disconnected. */
  #goodbyes: Promise<unknown> = Promise.resolve();

  constructor(parts: TransactionParts) {
    this.#parts = parts;
    const { brokerOffsets, assignments, ended } = parts;
    this.#offsets = new TransactionOffsets({ brokers: brokerOffsets, assignments, makeError, ended });
  }

  /** The caller waits for each transaction before the next. */
  async transact(records: readonly OutgoingRecord[], offsets: readonly OffsetCommit[]): Promise<void> {
    const assignment = this.#oneAssignment(offsets);
    const givenUp = new AbortController();
    this.#running.add(assignment);
    try {
      await this.letOldGo();
      this.#offsets.refuseUnlessCurrent(offsets); // only now: a producer of an assignment that is over would fence off the new owner
      await bounded(
        this.#write(assignment, records, offsets, givenUp.signal),
        writeDeadlineMs,
        () => writeFailures.lateTransaction(records, writeDeadlineMs),
        this.#parts.ended,
      );
      this.#parts.fences.written(assignment);
    } catch (error) {
      givenUp.abort(error);
      await this.#letGo(assignment);
      const explained = writeFailures.ofTransaction(asFenced(error, records), records, this.#parts.groupId);
      if (explained.code === "fenced") {
        this.#fence(assignment, offsets, explained);
      }
      throw explained;
    } finally {
      this.#running.delete(assignment);
    }
  }

  /**
   * Gives up the producers of assignments that are over, apart from those of transactions that are under way. Resolves when all that were given up
   * are disconnected. Never rejects.
   */
  async letOldGo(): Promise<void> {
    const { assignments } = this.#parts;
    for (const assignment of this.#opened.keys()) {
      if (!assignments.isCurrent(assignment) && !this.#running.has(assignment)) {
        void this.#letGo(assignment);
      }
    }
    await this.#goodbyes;
  }

  async close(deadlineMs: number): Promise<void> {
    await Promise.all([...this.#opened.keys()].map((assignment) => this.#letGo(assignment, deadlineMs)));
  }

  /** `givenUp`: its caller was told that it failed. It is not committed then, because the caller may do it again. */
  async #write(
    assignment: PartitionAssignment,
    records: readonly OutgoingRecord[],
    offsets: readonly OffsetCommit[],
    givenUp: AbortSignal,
  ): Promise<void> {
    const opened = await this.#open(assignment);
    if (await this.#offsets.areCarriedOut(offsets)) {
      return;
    }
    // To begin one fences off whoever has the transactional id by now: the producer of the caller's next attempt, or a new owner.
    givenUp.throwIfAborted();
    this.#offsets.refuseUnlessCurrent(offsets);
    const transaction = await opened.own.producer.transaction();
    try {
      if (!opened.isChecked) {
        await this.#refuseOvertaken(assignment);
        opened.isChecked = true;
      }
      await writeRecords(transaction, opened.own.partitions, records);
      await this.#sendOffsets(transaction, offsets);
      givenUp.throwIfAborted();
      this.#offsets.refuseUnlessCurrent(offsets);
    } catch (error) {
      await transaction.abort().catch(() => {});
      throw error;
    }
    this.#offsets.doubt(offsets);
    await commitOf(transaction);
    await this.#offsets.untilVisible(offsets);
  }

  /** For good: the next assignment of the partition has a producer and a start of its own. */
  #fence(assignment: PartitionAssignment, offsets: readonly OffsetCommit[], error: Error): void {
    this.#offsets.fence(offsets);
    if (this.#parts.assignments.isCurrent(assignment)) {
      this.#parts.fences.fenced(assignment, error);
    }
  }

  /** The brokers may still be ending the last transaction. kafkajs retries when it adds partitions, but not when it adds offsets. */
  async #sendOffsets(transaction: Transaction, offsets: readonly OffsetCommit[]): Promise<void> {
    for (const deadline = performance.now() + concurrentDeadlineMs; ; ) {
      try {
        await transaction.sendOffsets({ consumerGroupId: this.#parts.groupId, ...toKafkaJsOffsets(offsets) });
        return;
      } catch (error) {
        const { type } = error as { readonly type?: unknown };
        if (type !== "CONCURRENT_TRANSACTIONS" || performance.now() > deadline) {
          throw error;
        }
      }
      await delay(concurrentPauseMs, undefined, { signal: this.#parts.ended });
    }
  }

  #oneAssignment(offsets: readonly OffsetCommit[]): PartitionAssignment {
    const [first, ...others] = offsets;
    if (first === undefined || others.some(({ assignment }) => assignment !== first.assignment)) {
      throw new KafkaJsDriverError(
        "transaction-failed",
        "expected the offset of exactly one partition: with kafkajs, the transactional id of a partition fences off its old owner; nothing was written",
      );
    }
    return first.assignment;
  }

  async #refuseOvertaken(assignment: PartitionAssignment): Promise<void> {
    const { topic, partition } = assignment;
    const known = this.#parts.assignments.reachedOf(assignment) ?? -1n;
    const committed = (await this.#parts.brokerOffsets.committed([assignment])).get(placeOf(topic, partition));
    if (committed !== undefined && committed.offset > known && !isOfAnotherTopic(committed, assignment)) {
      throw new KafkaJsDriverError(
        "fenced",
        `the last owner of ${topic}[${partition}] has committed ${committed.offset} after this member had started; nothing was written. Start again`,
      );
    }
  }

  #open(assignment: PartitionAssignment): Promise<Opened> {
    let opening = this.#opened.get(assignment);
    if (opening === undefined) {
      opening = this.#connect(assignment);
      this.#opened.set(assignment, opening);
    }
    return opening;
  }

  async #connect(assignment: PartitionAssignment): Promise<Opened> {
    const own = this.#parts.makeProducer({
      transactionalId: transactionalIdOf(this.#parts.groupId, assignment),
      idempotent: true,
      transactionTimeout: writeDeadlineMs,
      maxInFlightRequests: 1,
      allowAutoTopicCreation: false,
      retry: producerRetry,
    });
    return { own: await connected(own), isChecked: false };
  }

  async #letGo(assignment: PartitionAssignment, deadlineMs?: number): Promise<void> {
    const opening = this.#opened.get(assignment);
    this.#opened.delete(assignment);
    const gone = letGoOpening(
      opening?.then(({ own }) => own),
      deadlineMs,
    );
    this.#goodbyes = Promise.all([this.#goodbyes, gone]);
    await gone;
  }
}

async function commitOf(transaction: Transaction): Promise<void> {
  try {
    await transaction.commit();
  } catch (error) {
    throw writeFailures.doubtfulCommit(error);
  }
}
