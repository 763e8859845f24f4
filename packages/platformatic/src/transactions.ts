import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { OffsetCommit, OutgoingRecord } from "@cdckit/consumer";
import { bounded, placeOf, TransactionOffsets } from "@cdckit/driver";
import { askAgain } from "./ask-again.ts";
import type { HeldPartitions } from "./assignments.ts";
import type { BrokerOffsets } from "./broker-offsets.ts";
import { byTopic } from "./by-topic.ts";
import type { Cluster } from "./cluster.ts";
import { mayBeSentAgain, toTopics } from "./commit-requests.ts";
import { makeError } from "./errors.ts";
import { mayPass } from "./explain-failure.ts";
import type { GroupMember } from "./group-member.ts";
import { codes, codesOf } from "./low-level-client.ts";
import type { ClientRecord } from "./outgoing.ts";
import { initTransactions, type ProducerIdentity, RecordSender, writeDeadlineMs } from "./record-sender.ts";
import { coordinatorMoves, type RequestName } from "./requests.ts";
import { fencedCodes, writeFailures } from "./write-failures.ts";

export interface TransactionParts {
  readonly cluster: Cluster;
  readonly groupId: string;
  readonly member: GroupMember;
  readonly brokers: Pick<BrokerOffsets, "committed">;
  readonly assignments: HeldPartitions;
  /** Nothing is waited for after it. */
  readonly ended: AbortSignal;
}

interface Opened {
  readonly identity: ProducerIdentity & { readonly transactionalId: string };
  readonly sender: RecordSender;
}

/** The brokers end the transaction of a member that is gone after this time. A new owner's start waits for that. */
const transactionTimeoutMs = 15_000;
const requestDeadlineMs = 10_000;
const pauseMs = 20;
/** No other member has the transactional id, so it was the brokers' own time-out that has fenced the producer, and aborted what was written. */
const abortedCodes: ReadonlySet<number> = new Set([codes.producerFenced, codes.invalidProducerEpoch]);
const passing: ReadonlySet<number> = new Set([
  ...coordinatorMoves,
  codes.concurrentTransactions,
  codes.unknownTopicOrPartition,
  codes.operationNotAttempted, // of a partition beside one that the coordinator does not know yet
]);

/**
 * Writes and commits in one transaction. The member's generation is sent with the offsets, so the broker refuses those of a member that has lost
 * its partitions. One producer is enough for that.
 *
 * A producer that has failed is not used again. The next one has the same transactional id: before the brokers let it in, they end what the first
 * one has left open, and refuse what it still sends. Only then can the group tell whether a commit without an answer was carried out.
 */
export class Transactions {
  readonly #parts: TransactionParts;
  readonly #offsets: TransactionOffsets;
  readonly #transactionalId: string;
  #opened: Opened | undefined;
  #running: Promise<unknown> = Promise.resolve();

  constructor(parts: TransactionParts) {
    this.#parts = parts;
    const { groupId, brokers, assignments, ended } = parts;
    this.#offsets = new TransactionOffsets({ brokers, assignments, makeError, ended });
    this.#transactionalId = `${groupId}.${randomUUID()}`;
  }

  /** The caller waits for each transaction before the next. */
  async transact(records: readonly OutgoingRecord[], offsets: readonly OffsetCommit[]): Promise<void> {
    this.#offsets.refuseUnlessCurrent(offsets);
    const late = (): Error => writeFailures.lateTransaction(records, 2 * writeDeadlineMs);
    const givenUp = new AbortController();
    const written = this.#write(records, offsets, givenUp.signal);
    this.#running = written.catch(() => {});
    try {
      await bounded(written, 2 * writeDeadlineMs, late, this.#parts.ended);
    } catch (error) {
      givenUp.abort(error);
      this.#opened = undefined;
      const explained = writeFailures.ofTransaction(error, records, this.#parts.groupId);
      if (explained.code === "fenced") {
        this.#offsets.fence(offsets);
      }
      throw explained;
    }
    await this.#offsets.untilVisible(offsets);
  }

  /** Resolves when no transaction is under way. Never rejects. */
  async close(): Promise<void> {
    await this.#running;
  }

  async #open(givenUp: AbortSignal): Promise<Opened> {
    if (this.#opened !== undefined) {
      return this.#opened;
    }
    const { cluster } = this.#parts;
    const transactionalId = this.#transactionalId;
    const made = await this.#untilPassed(transactionalId, () => initTransactions(cluster, transactionalId, transactionTimeoutMs));
    givenUp.throwIfAborted(); // the next transaction opens a producer of its own, which must not be replaced by this one
    const identity = { ...made, transactionalId };
    this.#opened = { identity, sender: new RecordSender(cluster, identity) };
    return this.#opened;
  }

  /** `givenUp`: its caller was told that it failed. Nothing more of it is sent then, because the caller may do it again. */
  async #write(records: readonly OutgoingRecord[], offsets: readonly OffsetCommit[], givenUp: AbortSignal): Promise<void> {
    const { identity, sender } = await this.#open(givenUp);
    if (await this.#offsets.areCarriedOut(offsets)) {
      return;
    }
    const placed = await sender.place(records);
    try {
      await this.#addPartitions(identity, placed);
      await sender.write(placed, givenUp);
      givenUp.throwIfAborted();
      this.#offsets.refuseUnlessCurrent(offsets);
      await this.#ask(identity, "AddOffsetsToTxn", [this.#parts.groupId]);
      await this.#commitOffsets(identity, offsets);
      givenUp.throwIfAborted();
      this.#offsets.refuseUnlessCurrent(offsets);
    } catch (error) {
      await this.#ask(identity, "EndTxn", [false]).catch(() => {});
      throw error;
    }
    this.#offsets.doubt(offsets);
    await this.#ask(identity, "EndTxn", [true]).catch((error: unknown) => {
      if (codesOf(error).some((code) => fencedCodes.has(code) || abortedCodes.has(code))) {
        throw error;
      }
      throw writeFailures.doubtfulCommit(error);
    });
  }

  async #addPartitions(identity: Opened["identity"], records: readonly ClientRecord[]): Promise<void> {
    if (records.length > 0) {
      const places = new Map(records.map((record) => [placeOf(record.topic, record.partition), record]));
      const topics = byTopic([...places.values()]);
      const { cluster } = this.#parts;
      await this.#untilPassed(identity.transactionalId, async () => {
        const at = await cluster.coordinator("transaction", identity.transactionalId);
        return cluster.ask(at, "write", "AddPartitionsToTxn", [[{ ...identity, topics, verifyOnly: false }]]);
      });
    }
  }

  /** A request to the coordinator of the transaction. */
  #ask(identity: Opened["identity"], name: RequestName, values: readonly unknown[]): Promise<unknown> {
    const { cluster } = this.#parts;
    const { transactionalId, producerId, producerEpoch } = identity;
    return this.#untilPassed(transactionalId, async () => {
      const at = await cluster.coordinator("transaction", transactionalId);
      return cluster.ask(at, "write", name, [transactionalId, producerId, producerEpoch, ...values]);
    });
  }

  /** In a rebalance the member gets a new generation without losing what it holds. The offsets are then sent again with that generation. */
  async #commitOffsets(
    { transactionalId, producerId, producerEpoch }: Opened["identity"],
    offsets: readonly OffsetCommit[],
  ): Promise<void> {
    const { cluster, groupId, member, assignments, ended } = this.#parts;
    for (const deadline = performance.now() + requestDeadlineMs; ; ) {
      const as = member.identity;
      try {
        const at = await cluster.coordinator("group", groupId);
        const { memberId, generation } = as;
        const values = [
          transactionalId,
          groupId,
          producerId,
          producerEpoch,
          generation,
          memberId,
          member.instanceId,
          toTopics(offsets, assignments),
        ];
        await cluster.ask(at, "member", "TxnOffsetCommit", values);
        return;
      } catch (error) {
        if (performance.now() > deadline || !mayBeSentAgain(this.#parts, error, as)) {
          throw error;
        }
      }
      await delay(pauseMs, undefined, { signal: ended });
      await member.settled();
      this.#offsets.refuseUnlessCurrent(offsets);
    }
  }

  #untilPassed<T>(transactionalId: string, ask: () => Promise<T>): Promise<T> {
    const { cluster, ended } = this.#parts;
    return askAgain(ask, {
      mayPass: (error) => mayPass(error, passing),
      deadline: performance.now() + requestDeadlineMs,
      pauseMs,
      ended,
      failed: (error) => {
        if (!codesOf(error).includes(codes.concurrentTransactions)) {
          cluster.forget("transaction", transactionalId);
        }
      },
    });
  }
}
