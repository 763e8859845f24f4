import { performance } from "node:perf_hooks";
import { setImmediate as yieldToEventLoop, setTimeout as pass } from "node:timers/promises";
import type { BatchWriter } from "../../load/batch-writer/batch-writer.ts";
import { type BatchCompression, loadCompression } from "../../load/batch-writer/compression.ts";
import { murmur2, partitionOfHash } from "../../load/batch-writer/murmur2.ts";
import type { RecordHeader } from "../../load/batch-writer/record-batch.ts";
import {
  type ChangeEncoder,
  type ChangeRecord,
  type ChangeStream,
  createChangeStream,
  type Envelope,
  type OpMix,
  type SchemaIds,
} from "../../load/change-events/index.ts";
import type { Observer } from "../../observe/observer.ts";
import { DelayHistogram, type DelaySummary } from "./lateness.ts";
import { sourceOf, type TopicPlan } from "./produce-plan.ts";
import { RecycledBytes } from "./recycled-bytes.ts";
import { evenSchedule, type Schedule } from "../schedule.ts";
import { type LoadedBatch, TopicLane } from "./topic-lane.ts";

export interface ProduceOptions {
  readonly writer: BatchWriter;
  readonly topics: readonly TopicPlan[];
  /** By topic; null for formats without schemas. */
  readonly schemaIds: ReadonlyMap<string, SchemaIds | null>;
  readonly seed: number;
  readonly mix: OpMix;
  /** Records for each topic. Undefined: until the time is over. */
  readonly rows: number | undefined;
  readonly maxDurationMs: number | undefined;
  /** Records a second for each topic. Undefined: as fast as it goes. */
  readonly perSecond: number | undefined;
  readonly batchBytes: number;
  readonly maxInFlight: number;
  readonly headers: boolean;
  /** Whether brokers acknowledge requests. Otherwise a record counts as soon as its request is in the socket. */
  readonly isAcknowledged: boolean;
  readonly interrupt: AbortSignal;
  readonly observer: Observer;
}

export interface ProducedTopic {
  readonly topic: string;
  readonly format: string;
  readonly compression: string;
  readonly partitions: number;
  readonly records: number;
  /** Keys and values, before compression. */
  readonly payloadBytes: number;
  /** Batches as they went over the wire, with their headers. */
  readonly wireBytes: number;
  readonly batches: number;
}

export interface ProduceMeasure {
  readonly outcome: "rows-written" | "time-up" | "interrupted";
  readonly elapsedMs: number;
  /** Of each topic. More than what was written if the producer could not keep up until its time was over. Null without a rate. */
  readonly dueRecords: number | null;
  readonly topics: readonly ProducedTopic[];
  /** From when a record was due until its request was handed to the socket; null without a rate. */
  readonly lateness: DelaySummary | null;
  /** From when a record was due until it was acknowledged; null without a rate or without acknowledgements. */
  readonly dueToAck: DelaySummary | null;
  /** From a request's start until its acknowledgement, a request each; null without acknowledgements. */
  readonly ack: DelaySummary | null;
  readonly retries: number;
}

/** A batch is closed after so long at the latest, when a rate is set. */
const lingerMs = 5;
/** The last records of a schedule are due at its very end: so long they may be late before the run is over without them. */
const graceMs = 1_000;
/** Rows that are made before the event loop gets its turn. */
const rowsPerTurn = 1_000;
/** What Debezium 3.5 adds to each record, as it was recorded. */
const debeziumHeaders = (prefix: string): readonly RecordHeader[] =>
  Object.entries({
    "__debezium.context.connectorLogicalName": prefix,
    "__debezium.context.taskId": "0",
    "__debezium.context.connectorName": "postgresql",
    "__debezium.context.runId": "01a1fcf7-0764-7476-9310-89e74707e461",
  }).map(([name, value]) => [Buffer.from(name), Buffer.from(value)]);

/** Writes the same rows to each topic. Rejects if a broker refuses; an interrupt ends it with what was acknowledged, or sent if nobody acknowledges it. */
export async function runProduce(options: ProduceOptions): Promise<ProduceMeasure> {
  return new ProduceRun(options, await compressionsOf(options.topics)).run();
}

/** A topic, and what writes its records. */
interface Target {
  readonly lane: TopicLane;
  readonly encoder: ChangeEncoder;
  readonly prefix: string;
  readonly partitions: number;
  readonly headers: readonly RecordHeader[];
}

class ProduceRun {
  readonly #options: ProduceOptions;
  readonly #targets: readonly Target[];
  readonly #lateness = new DelayHistogram();
  readonly #dueToAck = new DelayHistogram();
  readonly #ack = new DelayHistogram();
  readonly #messageBytes = new RecycledBytes();
  readonly #inFlight = new Set<Promise<void>>();
  #failure: { readonly error: unknown } | undefined;
  readonly #schedule: Schedule | null;
  #startedAtMs = 0;
  #startedAtUnixMs = 0;

  constructor(options: ProduceOptions, compressions: ReadonlyMap<string, BatchCompression>) {
    this.#options = options;
    this.#schedule = options.perSecond === undefined ? null : evenSchedule(options.perSecond);
    this.#targets = options.topics.map((plan) => {
      const source = sourceOf(plan.topic);
      const partitions = options.writer.partitionsOf(plan.topic);
      return {
        lane: new TopicLane(plan, compressions.get(plan.compression)!, partitions), // loaded for these topics
        encoder: plan.format.createEncoder(source, options.schemaIds.get(plan.topic) ?? null, (size) => this.#messageBytes.take(size)),
        prefix: source.prefix,
        partitions,
        headers: options.headers ? debeziumHeaders(source.prefix) : [],
      };
    });
  }

  async run(): Promise<ProduceMeasure> {
    const { seed, mix } = this.#options;
    const total = this.#total();
    const source = sourceOf(this.#options.topics[0]?.topic ?? "");
    const stream = createChangeStream({ seed, mix, source, ...(total !== undefined && { records: total }) });
    this.#startedAtUnixMs = Date.now();
    this.#startedAtMs = performance.now();
    const outcome = await this.#writeAll(stream, total);
    const dueRecords =
      this.#schedule === null ? null : Math.min(this.#schedule.dueBy(this.#elapsedMs()), total ?? Number.POSITIVE_INFINITY);
    await this.#flush(0);
    await Promise.all(this.#inFlight);
    if (this.#failure !== undefined) {
      throw this.#failure.error;
    }
    return this.#measure(outcome, this.#elapsedMs(), dueRecords);
  }

  /** How many records each topic is to get: whatever of rows and time comes first. Undefined if only the time ends the run. */
  #total(): number | undefined {
    const { rows, perSecond, maxDurationMs } = this.#options;
    if (perSecond === undefined || maxDurationMs === undefined) {
      return rows;
    }
    return Math.min(rows ?? Number.POSITIVE_INFINITY, Math.floor((perSecond * maxDurationMs) / 1e3));
  }

  async #writeAll(stream: ChangeStream, total: number | undefined): Promise<ProduceMeasure["outcome"]> {
    const maxElapsedMs = (this.#options.maxDurationMs ?? Number.POSITIVE_INFINITY) + (this.#schedule === null ? 0 : graceMs);
    const last = total ?? Number.POSITIVE_INFINITY;
    let made = 0;
    while (made < last && this.#failure === undefined) {
      const elapsedMs = this.#elapsedMs();
      if (this.#options.interrupt.aborted) {
        return "interrupted";
      }
      if (elapsedMs >= maxElapsedMs) {
        return "time-up";
      }
      const due = Math.min(this.#schedule?.dueBy(elapsedMs) ?? Number.POSITIVE_INFINITY, last, made + rowsPerTurn);
      if (due > made) {
        made = this.#writeUntil(due, made, stream);
        await this.#flush(this.#schedule === null ? this.#options.batchBytes : 0);
        this.#observe(made, total);
        await yieldToEventLoop();
      } else {
        await pass(Math.max(1, Math.min(lingerMs, (this.#schedule?.dueMs(made) ?? 0) - elapsedMs)));
      }
    }
    return last < (this.#options.rows ?? 0) ? "time-up" : "rows-written";
  }

  /** Ends early if a batch is full. Gives how many records were made. */
  #writeUntil(due: number, made: number, stream: ChangeStream): number {
    let at = made;
    let isFull = false;
    for (; at < due && !isFull; at++) {
      const dueMs = this.#schedule?.dueMs(at) ?? null;
      const timeMs = this.#startedAtUnixMs + (dueMs ?? this.#elapsedMs());
      isFull = this.#write(stream.next(timeMs * 1e3), Math.floor(timeMs), dueMs);
    }
    return at;
  }

  #elapsedMs(): number {
    return performance.now() - this.#startedAtMs;
  }

  /** Gives whether a batch is as large as it may be. */
  #write({ id, envelope }: ChangeRecord, timestampMs: number, dueMs: number | null): boolean {
    let isFull = false;
    // By the key's JSON, whatever the format: a row has the same partition in each topic.
    const keyHash = murmur2(Buffer.from(`{"id":${id}}`));
    for (const { lane, encoder, prefix, partitions, headers } of this.#targets) {
      const value = envelope === null ? null : encoder.value(withPrefix(envelope, prefix));
      const record = { timestampMs, dueMs, key: encoder.key({ id }), value };
      isFull = lane.add(partitionOfHash(keyHash, partitions), record, headers) >= this.#options.batchBytes || isFull;
      this.#messageBytes.release(); // the batch has its own copy
    }
    return isFull;
  }

  /** Sends the batches that have so many bytes, and waits only if too many requests are on their way. */
  async #flush(minBytes: number): Promise<void> {
    const batches = (await Promise.all(this.#targets.map(({ lane }) => lane.flush(minBytes)))).flat();
    if (batches.length === 0) {
      return;
    }
    while (this.#inFlight.size >= this.#options.maxInFlight && this.#failure === undefined) {
      await Promise.race(this.#inFlight);
    }
    const sending = this.#send(batches).catch((error: unknown) => {
      this.#failure ??= { error };
    });
    this.#inFlight.add(sending);
    void sending.then(() => this.#inFlight.delete(sending));
  }

  async #send(batches: readonly LoadedBatch[]): Promise<void> {
    const sentAtMs = this.#elapsedMs();
    for (const { dueMs } of batches) {
      for (const due of dueMs) {
        this.#lateness.add(sentAtMs - due);
      }
    }
    await this.#options.writer.send(batches);
    const ackedAtMs = this.#elapsedMs();
    this.#ack.add(ackedAtMs - sentAtMs);
    for (const batch of batches) {
      batch.lane.acknowledged(batch);
      for (const due of batch.dueMs) {
        this.#dueToAck.add(ackedAtMs - due);
      }
    }
  }

  #observe(made: number, total: number | undefined): void {
    const { topics } = this.#options;
    this.#options.observer.observe(() => {
      const elapsedMs = this.#elapsedMs();
      return {
        phase: `writing ${topics.length} ${topics.length === 1 ? "topic" : "topics"}`,
        done: made * topics.length,
        ...(total !== undefined && { total: total * topics.length }),
        perSecond: (made * topics.length * 1e3) / elapsedMs,
      };
    });
  }

  #measure(outcome: ProduceMeasure["outcome"], elapsedMs: number, dueRecords: number | null): ProduceMeasure {
    const { isAcknowledged, perSecond } = this.#options;
    const isPaced = perSecond !== undefined;
    return {
      outcome,
      elapsedMs,
      dueRecords,
      topics: this.#targets.map(({ lane: { plan, records, payloadBytes, wireBytes, batches }, partitions }) => ({
        topic: plan.topic,
        format: plan.format.name,
        compression: plan.compression,
        partitions,
        records,
        payloadBytes,
        wireBytes,
        batches,
      })),
      lateness: isPaced ? this.#lateness.summary() : null,
      dueToAck: isPaced && isAcknowledged ? this.#dueToAck.summary() : null,
      ack: isAcknowledged ? this.#ack.summary() : null,
      retries: this.#options.writer.retries,
    };
  }
}

function withPrefix(envelope: Envelope, prefix: string): Envelope {
  return envelope.source.name === prefix ? envelope : { ...envelope, source: { ...envelope.source, name: prefix } };
}

async function compressionsOf(topics: readonly TopicPlan[]): Promise<ReadonlyMap<string, BatchCompression>> {
  const names = new Set(topics.map(({ compression }) => compression));
  const loaded = await Promise.all([...names].map(loadCompression));
  return new Map(loaded.map((compression) => [compression.name, compression]));
}
