import { Kafka, logLevel } from "kafkajs";
import { performance } from "node:perf_hooks";
import { BenchError } from "../../bench-error.ts";
import { type ClusterConnection, clientConfigOf, fetchLimitsOf } from "../../load/connection.ts";
import { explainRefusal } from "../../load/explain-refusal.ts";
import { readToEnds } from "../../load/read-to-ends.ts";
import type { Peer } from "../../measure/peer.ts";
import { ReadingLoad } from "../../measure/process-load.ts";
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
  const { connection, topic, endOffsets, groupId, interrupt } = options;
  const kafka = new Kafka({ clientId: "cdc-bench", ...clientConfigOf(connection), logLevel: logLevel.NOTHING });
  const consumer = kafka.consumer({ groupId, allowAutoTopicCreation: false, ...fetchLimitsOf(connection) });
  const tally = new RawTally(endOffsets, options.peer);
  try {
    await readToEnds(consumer, { topic, endOffsets, interrupt, onBatch: ({ partition, messages }) => tally.take(partition, messages) });
    return interrupt.aborted ? null : tally.round();
  } catch (error) {
    throw error instanceof BenchError ? error : await explainRefusal(connection, error);
  } finally {
    tally.load.end();
    await consumer.disconnect().catch(() => {});
  }
}

interface RawMessage {
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly offset: string;
}

/** Counts and decodes what a client hands over. */
export class RawTally {
  readonly load: ReadingLoad = new ReadingLoad();
  readonly #endOffsets: ReadonlyMap<number, bigint>;
  readonly #peer: Peer | null;
  #firstAtMs: number | undefined;
  #lastAtMs = 0;
  #records = 0;
  #bytes = 0;
  #errorRecords = 0;

  constructor(endOffsets: ReadonlyMap<number, bigint>, peer: Peer | null) {
    this.#endOffsets = endOffsets;
    this.#peer = peer;
  }

  take(partition: number, fetched: readonly RawMessage[]): void {
    const messages = inFrontOf(this.#endOffsets.get(partition) ?? 0n, fetched);
    if (messages.length === 0) {
      return;
    }
    this.load.batchBegins();
    this.#firstAtMs ??= performance.now();
    for (const { key, value } of messages) {
      this.#records++;
      this.#bytes += (key?.length ?? 0) + (value?.length ?? 0);
      if (this.#peer !== null) {
        this.#read(key, value);
      }
    }
    this.#lastAtMs = performance.now();
    this.load.batchEnds();
  }

  round(): PlayedRound {
    return {
      records: this.#records,
      bytes: this.#bytes,
      elapsedMs: this.#lastAtMs - (this.#firstAtMs ?? this.#lastAtMs),
      errorRecords: this.#errorRecords,
      load: this.load.end(),
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

/** cdckit's own reader stops at the end, too. Offsets are compared only in a batch that goes beyond it, because comparing takes the reader's time. */
function inFrontOf(end: bigint, messages: readonly RawMessage[]): readonly RawMessage[] {
  const last = messages.at(-1);
  return last === undefined || BigInt(last.offset) < end ? messages : messages.filter(({ offset }) => BigInt(offset) < end);
}
