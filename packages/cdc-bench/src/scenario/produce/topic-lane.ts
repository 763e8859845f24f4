import type { BatchCompression } from "../../load/batch-writer/compression.ts";
import type { PlacedBatch } from "../../load/batch-writer/produce-request.ts";
import { RecordBatchBuilder, type RecordHeader } from "../../load/batch-writer/record-batch.ts";
import type { TopicPlan } from "./produce-plan.ts";

/** A batch that is on its way, with what is to be counted of it. */
export interface LoadedBatch extends PlacedBatch {
  readonly lane: TopicLane;
  readonly records: number;
  /** Keys and values, before compression. */
  readonly payloadBytes: number;
  /** When its records were due, in milliseconds since the start. Empty without a rate. */
  readonly dueMs: readonly number[];
}

/** Collects the records of one topic by partition, and counts what was acknowledged. */
export class TopicLane {
  readonly plan: TopicPlan;
  records = 0;
  payloadBytes = 0;
  wireBytes = 0;
  batches = 0;
  readonly #compression: BatchCompression;
  readonly #open: { readonly builder: RecordBatchBuilder; payloadBytes: number; dueMs: number[] }[];

  constructor(plan: TopicPlan, compression: BatchCompression, partitions: number) {
    this.plan = plan;
    this.#compression = compression;
    this.#open = Array.from({ length: partitions }, () => ({ builder: new RecordBatchBuilder(), payloadBytes: 0, dueMs: [] }));
  }

  /** Gives the size of the partition's batch so far. */
  add(
    partition: number,
    record: { readonly timestampMs: number; readonly dueMs: number | null; readonly key: Buffer; readonly value: Buffer | null },
    headers: readonly RecordHeader[],
  ): number {
    const open = this.#open[partition]!;
    open.builder.add(record.timestampMs, record.key, record.value, headers);
    open.payloadBytes += record.key.length + (record.value?.length ?? 0);
    if (record.dueMs !== null) {
      open.dueMs.push(record.dueMs);
    }
    return open.builder.byteLength;
  }

  /** The batches that have at least so many bytes. */
  async flush(minBytes: number): Promise<readonly LoadedBatch[]> {
    const batches: LoadedBatch[] = [];
    for (const [partition, open] of this.#open.entries()) {
      if (open.builder.count > 0 && open.builder.byteLength >= minBytes) {
        const { payloadBytes, dueMs } = open;
        const records = open.builder.count;
        open.payloadBytes = 0;
        open.dueMs = [];
        const bytes = await open.builder.finish(this.#compression);
        batches.push({ lane: this, topic: this.plan.topic, partition, bytes, records, payloadBytes, dueMs });
      }
    }
    return batches;
  }

  /** The batch is counted, and its memory is used again. */
  acknowledged({ partition, records, payloadBytes, bytes }: LoadedBatch): void {
    this.records += records;
    this.payloadBytes += payloadBytes;
    this.wireBytes += bytes.length;
    this.batches++;
    this.#open[partition]!.builder.recycle(bytes);
  }
}
