import type { DriverSession, DriverSink, FetchedBatch, KafkaDriver, OutgoingRecord, Subscription } from "@cdckit/consumer";
import { performance } from "node:perf_hooks";
import { DurationHistogram, type DurationSummary } from "../../measure/duration-histogram.ts";

/** Offsets by topic and partition. */
export type Places = ReadonlyMap<string, ReadonlyMap<number, bigint>>;

/** A driver that works as it does without it, and tells what passed. It costs nothing for each record. */
export interface DriverTap {
  readonly driver: KafkaDriver;
  /** From `connect` until partitions were assigned. 0 before that. */
  readonly joinMs: number;
  /** Batches that were fetched, and their bytes in memory. */
  readonly batches: number;
  readonly bytes: number;
  /** The first offset that was read of each partition; only of fetches that say how many records they hold. */
  readonly firstOffsets: Places;
  /** Commits of the group by itself, and transactions. */
  readonly commits: DurationSummary;
  readonly transactions: DurationSummary;
  /** How often connections were replaced. */
  readonly reconnects: number;
  /** Told of each transaction that was committed, with the number of its records. */
  whenTransacted: ((records: number, startedAtMs: number, endedAtMs: number) => void) | null;
  /** Writes with the driver's own producer. */
  send(records: readonly OutgoingRecord[]): Promise<void>;
}

export function tapDriver(inner: KafkaDriver): DriverTap {
  return new Tap(inner);
}

class Tap implements DriverTap {
  readonly driver: KafkaDriver;
  readonly firstOffsets: Map<string, Map<number, bigint>> = new Map();
  readonly #commits = new DurationHistogram();
  readonly #transactions = new DurationHistogram();
  #session: DriverSession | undefined;
  #connectedAtMs = 0;
  whenTransacted: DriverTap["whenTransacted"] = null;
  joinMs = 0;
  batches = 0;
  bytes = 0;
  reconnects = 0;

  constructor(inner: KafkaDriver) {
    this.driver = {
      name: inner.name,
      capabilities: inner.capabilities,
      connect: (subscription, sink) => this.#connect(inner, subscription, sink),
    };
  }

  get commits(): DurationSummary {
    return this.#commits.summary();
  }

  get transactions(): DurationSummary {
    return this.#transactions.summary();
  }

  async send(records: readonly OutgoingRecord[]): Promise<void> {
    if (this.#session?.send === undefined) {
      throw new Error("the driver cannot write before it is connected");
    }
    await this.#session.send(records);
  }

  async #connect(inner: KafkaDriver, subscription: Subscription, sink: DriverSink): Promise<DriverSession> {
    this.#connectedAtMs = performance.now();
    const session = await inner.connect(subscription, {
      assigned: (assignments) => {
        this.joinMs ||= performance.now() - this.#connectedAtMs;
        sink.assigned(assignments);
      },
      startsAt: (assignment, offset) => sink.startsAt?.(assignment, offset),
      revoked: (assignments, how) => sink.revoked(assignments, how),
      batch: (batch) => {
        this.#count(batch);
        return sink.batch(batch);
      },
      skipped: (assignment, lost, resumeOffset) => sink.skipped?.(assignment, lost, resumeOffset),
      ...(sink.waiting === undefined ? {} : { waiting: sink.waiting.bind(sink) }),
      reconnected: (why) => {
        this.reconnects++;
        sink.reconnected?.(why);
      },
      acknowledged: (validForMs, next) => sink.acknowledged?.(validForMs, next),
      failed: (error) => sink.failed(error),
    });
    this.#session = session;
    return this.#tapped(session);
  }

  #tapped(session: DriverSession): DriverSession {
    const { seek, send, transact, ranges, reconnect } = session;
    return {
      commit: (offsets) => timed(this.#commits, () => session.commit(offsets)),
      pause: (assignments) => session.pause(assignments),
      resume: (assignments) => session.resume(assignments),
      close: (deadlineMs) => session.close(deadlineMs),
      ...(seek && { seek: (assignment, offset) => seek.call(session, assignment, offset) }),
      ...(send && { send: (records) => send.call(session, records) }),
      ...(transact && {
        transact: async (records, offsets) => {
          const startedAtMs = performance.now();
          await timed(this.#transactions, () => transact.call(session, records, offsets));
          this.whenTransacted?.(records.length, startedAtMs, performance.now());
        },
      }),
      ...(ranges && { ranges: (assignments) => ranges.call(session, assignments) }),
      ...(reconnect && { reconnect: (why) => reconnect.call(session, why) }),
    };
  }

  #count({ topic, partition, nextOffset, recordCount, byteLength }: FetchedBatch): void {
    this.batches++;
    this.bytes += byteLength;
    if (recordCount === null || recordCount === 0) {
      return;
    }
    let partitions = this.firstOffsets.get(topic);
    if (partitions === undefined) {
      partitions = new Map();
      this.firstOffsets.set(topic, partitions);
    }
    if (!partitions.has(partition)) {
      partitions.set(partition, nextOffset - BigInt(recordCount));
    }
  }
}

async function timed(durations: DurationHistogram, work: () => Promise<void>): Promise<void> {
  const startedAtMs = performance.now();
  await work();
  durations.recordNs((performance.now() - startedAtMs) * 1e6);
}
