import { randomUUID } from "node:crypto";
import type { OffsetCommit, OutgoingRecord } from "@cdckit/consumer";
import { bounded, TransactionOffsets } from "@cdckit/driver";
import type { HeldPartitions } from "./assignments.ts";
import type { BrokerOffsets } from "./broker-offsets.ts";
import { toClientOffsets } from "./commit-requests.ts";
import { makeError } from "./errors.ts";
import { answerOf, type ClientError, codes, type LowLevelConsumer, type LowLevelProducer } from "./low-level-client.ts";
import { type MakeProducer, OwnProducer, writeDeadlineMs } from "./own-producer.ts";
import { fencedCodes, writeFailures } from "./write-failures.ts";

export interface TransactionParts {
  readonly groupId: string;
  readonly consumer: LowLevelConsumer;
  readonly makeProducer: MakeProducer;
  readonly brokerOffsets: BrokerOffsets;
  readonly assignments: HeldPartitions;
  /** Nothing is waited for after it. */
  readonly ended: AbortSignal;
}

/** The brokers end the transaction of a member that is gone after this time. A new owner's start waits for that. */
const transactionTimeoutMs = 15_000;
const requestDeadlineMs = 10_000;
/** No other member has the transactional id, so it was the brokers' own time-out that has fenced the producer, and aborted what was written. */
const abortedCodes: ReadonlySet<unknown> = new Set([codes.fenced, codes.producerFenced, codes.invalidProducerEpoch]);

/**
 * Writes and commits in one transaction. The client sends the member's generation with the offsets, so the broker refuses those of a member that
 * has lost its partitions. One producer is enough for that.
 *
 * A producer that has failed is not used again. The next one has the same transactional id: before the brokers let it in, they end what the first
 * one has left open, and refuse what it still sends. Only then can the group tell whether a commit without an answer was carried out.
 */
export class Transactions {
  readonly #parts: TransactionParts;
  readonly #offsets: TransactionOffsets;
  readonly #transactionalId: string;
  #own: Promise<OwnProducer> | undefined;
  /** Settled when the last transaction is over. */
  #running: Promise<unknown> = Promise.resolve();
  /** Settled when the producers of transactions that have failed are closed. */
  #letGo: Promise<unknown> = Promise.resolve();

  constructor(parts: TransactionParts) {
    this.#parts = parts;
    const { groupId, brokerOffsets, assignments, ended } = parts;
    this.#offsets = new TransactionOffsets({ brokers: brokerOffsets, assignments, makeError, ended });
    this.#transactionalId = `${groupId}.${randomUUID()}`;
  }

  /** The caller waits for each transaction before the next. */
  async transact(records: readonly OutgoingRecord[], offsets: readonly OffsetCommit[]): Promise<void> {
    this.#offsets.refuseUnlessCurrent(offsets);
    this.#own ??= this.#connect();
    const own = this.#own;
    const late = (): Error => writeFailures.lateTransaction(records, 2 * writeDeadlineMs);
    const givenUp = new AbortController();
    const written = own.then((producer) => this.#write(producer, records, offsets, givenUp.signal));
    const running = written.catch(() => {});
    this.#running = running;
    try {
      await bounded(written, 2 * writeDeadlineMs, late, this.#parts.ended);
    } catch (error) {
      givenUp.abort(error);
      if (this.#own === own) {
        this.#own = undefined;
      }
      const closed = running.then(() => own.then((producer) => producer.close()));
      this.#letGo = Promise.allSettled([this.#letGo, closed]).then(() => {});
      const explained = writeFailures.ofTransaction(error, records, this.#parts.groupId);
      if (explained.code === "fenced") {
        this.#offsets.fence(offsets);
      }
      throw explained;
    }
    await this.#offsets.untilVisible(offsets);
  }

  /** Waits for a transaction that is under way: the client would use the consumer and the producer after their end. */
  async close(deadlineMs: number): Promise<void> {
    await Promise.all([this.#running, this.#letGo]);
    const own = this.#own;
    this.#own = undefined;
    await own?.then((producer) => producer.close(deadlineMs)).catch(() => {});
  }

  async #connect(): Promise<OwnProducer> {
    const own = await new OwnProducer(this.#parts.makeProducer, {
      "transactional.id": this.#transactionalId,
      "transaction.timeout.ms": transactionTimeoutMs,
      "delivery.timeout.ms": transactionTimeoutMs,
      retries: 12, // their pauses take less than that, too
      // librdkafka demands that it is not longer than a transaction, and it may be one of the user's properties.
      "socket.timeout.ms": transactionTimeoutMs,
    }).connect();
    try {
      await own.answer((done) => own.client.initTransactions(requestDeadlineMs, done));
    } catch (error) {
      await own.close(); // the client would go on trying, and fence off the next producer
      throw error;
    }
    return own;
  }

  /** `givenUp`: its caller was told that it failed. Nothing more of it is sent then, because the caller may do it again. */
  async #write(
    own: OwnProducer,
    records: readonly OutgoingRecord[],
    offsets: readonly OffsetCommit[],
    givenUp: AbortSignal,
  ): Promise<void> {
    const { client } = own;
    if (await this.#offsets.areCarriedOut(offsets)) {
      return;
    }
    givenUp.throwIfAborted();
    await answerOf<unknown>((done) => client.beginTransaction(done));
    try {
      await own.write(records);
      givenUp.throwIfAborted();
      // A rebalance takes partitions only when this thread has let them go, so the generation that the client sends is that of the assignment.
      this.#offsets.refuseUnlessCurrent(offsets);
      const written = toClientOffsets(offsets);
      await answerOf<unknown>((done) => client.sendOffsetsToTransaction(written, this.#parts.consumer, requestDeadlineMs, done));
      givenUp.throwIfAborted();
      this.#offsets.refuseUnlessCurrent(offsets);
    } catch (error) {
      const failure = await whyPurged(client, error);
      await answerOf<unknown>((done) => client.abortTransaction(requestDeadlineMs, done)).catch(() => {});
      throw failure;
    }
    this.#offsets.doubt(offsets);
    await this.#commit(own);
  }

  async #commit({ client }: OwnProducer): Promise<void> {
    for (const deadline = performance.now() + requestDeadlineMs; ; ) {
      try {
        await answerOf<unknown>((done) => client.commitTransaction(requestDeadlineMs, done));
        return;
      } catch (error) {
        const { code, isRetriable = false, isTxnRequiresAbort = false } = error as Partial<ClientError>;
        if (isTxnRequiresAbort) {
          await answerOf<unknown>((done) => client.abortTransaction(requestDeadlineMs, done)).catch(() => {});
          throw error;
        }
        if (!isRetriable || performance.now() > deadline) {
          throw fencedCodes.has(code) || abortedCodes.has(code) ? error : writeFailures.doubtfulCommit(error);
        }
      }
    }
  }
}

/**
 * If the brokers refuse a transaction's topic, the records of it are purged, which is all that their reports say. The client answers with the reason
 * to whoever wants to begin another transaction: it begins none while this one is not over.
 */
async function whyPurged(client: LowLevelProducer, error: unknown): Promise<unknown> {
  if ((error as Partial<ClientError> | null)?.code !== codes.purgedInQueue) {
    return error;
  }
  try {
    await answerOf<unknown>((done) => client.beginTransaction(done));
    return error;
  } catch (reason) {
    return (reason as Partial<ClientError>).code === codes.state ? error : reason;
  }
}
