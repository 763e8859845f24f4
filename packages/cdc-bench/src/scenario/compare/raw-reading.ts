import { Kafka, logLevel } from "kafkajs";
import { performance } from "node:perf_hooks";
import { type ClusterConnection, fetchLimitsOf, kafkaConfigOf } from "../../load/connection.ts";
import { explainRefusal } from "../../load/explain-refusal.ts";
import type { Peer } from "../../measure/peer.ts";
import type { PlayedRound } from "./contestant.ts";

export interface RawReadingOptions {
  readonly connection: ClusterConnection;
  readonly topic: string;
  /** By partition: where it ends. Partitions without records are left out. */
  readonly endOffsets: ReadonlyMap<number, bigint>;
  readonly groupId: string;
  /** Null: records are handed over and counted, and nothing is decoded. */
  readonly peer: Peer | null;
  readonly interrupt: AbortSignal;
}

/** The shortest program that people write with kafkajs: `eachBatch`, and a decoder called for each message. Null if it was interrupted. */
export async function readRaw(options: RawReadingOptions): Promise<PlayedRound | null> {
  const { connection, topic, groupId, interrupt } = options;
  const kafka = new Kafka({ clientId: "cdc-bench", ...kafkaConfigOf(connection), logLevel: logLevel.NOTHING });
  const consumer = kafka.consumer({ groupId, allowAutoTopicCreation: false, ...fetchLimitsOf(connection) });
  const tally = new RawTally(options.endOffsets, options.peer);
  const crashed = new Promise<never>((_, reject) => {
    consumer.on(consumer.events.CRASH, ({ payload }) => reject(payload.error));
  });
  crashed.catch(() => {}); // it may come after the end
  let stop = (): void => {};
  const interrupted = new Promise<void>((resolve) => {
    stop = resolve;
  });
  interrupt.addEventListener("abort", stop);
  if (interrupt.aborted) {
    stop();
  }
  try {
    await consumer.connect();
    await consumer.subscribe({ topic, fromBeginning: true });
    await consumer.run({
      autoCommit: false,
      eachBatch: async ({ batch }) => tally.take(batch.partition, batch.messages),
    });
    await Promise.race([tally.ended, crashed, interrupted]);
    return interrupt.aborted ? null : tally.round();
  } catch (error) {
    throw await explainRefusal(connection, error);
  } finally {
    interrupt.removeEventListener("abort", stop);
    await consumer.disconnect().catch(() => {});
  }
}

interface RawMessage {
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly offset: string;
}

class RawTally {
  readonly ended: Promise<void>;
  readonly #pending: Map<number, bigint>;
  readonly #peer: Peer | null;
  #end: () => void = () => {};
  #firstAtMs: number | undefined;
  #lastAtMs = 0;
  #records = 0;
  #bytes = 0;
  #errorRecords = 0;

  constructor(endOffsets: ReadonlyMap<number, bigint>, peer: Peer | null) {
    this.#pending = new Map(endOffsets);
    this.#peer = peer;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    if (this.#pending.size === 0) {
      this.#end();
    }
  }

  take(partition: number, messages: readonly RawMessage[]): void {
    const end = this.#pending.get(partition);
    if (end === undefined) {
      return;
    }
    this.#firstAtMs ??= performance.now();
    for (const { key, value } of messages) {
      this.#records++;
      this.#bytes += (key?.length ?? 0) + (value?.length ?? 0);
      if (this.#peer !== null) {
        this.#read(key, value);
      }
    }
    this.#lastAtMs = performance.now();
    const last = messages.at(-1);
    if (last !== undefined && BigInt(last.offset) + 1n >= end) {
      this.#pending.delete(partition);
      if (this.#pending.size === 0) {
        this.#end();
      }
    }
  }

  round(): PlayedRound {
    return {
      records: this.#records,
      bytes: this.#bytes,
      elapsedMs: this.#lastAtMs - (this.#firstAtMs ?? this.#lastAtMs),
      errorRecords: this.#errorRecords,
      reading: null,
    };
  }

  #read(key: Buffer | null, value: Buffer | null): void {
    try {
      this.#peer?.read({ key, value });
    } catch {
      this.#errorRecords++;
    }
  }
}
