import type { Tuning } from "../catch-up/tuning.ts";

/** A setting that a sweep varies. */
export interface Dimension {
  /** As the flag is called. */
  readonly name: DimensionName;
  /** The option of `createConsumer` or of `kafkajs()`. */
  readonly option: string;
  readonly unit: "events" | "bytes" | "ms" | "batches" | "records" | "partitions";
  /** From small to large, with equal factors between them. */
  readonly values: readonly number[];
  readonly key: NumericKey;
}

type NumericKey = Exclude<keyof Tuning, "order">;

export const dimensionNames = [
  "batch-events",
  "batch-bytes",
  "batch-ms",
  "in-flight",
  "concurrency",
  "fetch-bytes",
  "fetch-max-bytes",
  "partitions-at-once",
] as const;
export type DimensionName = (typeof dimensionNames)[number];

const all: Readonly<Record<DimensionName, Omit<Dimension, "name">>> = {
  "batch-events": { key: "batchEvents", option: "delivery.batch.maxEvents", unit: "events", values: [64, 256, 1_024, 4_096, 16_384] },
  "batch-bytes": {
    key: "batchBytes",
    option: "delivery.batch.maxBytes",
    unit: "bytes",
    values: [65_536, 262_144, 1_048_576, 4_194_304, 16_777_216],
  },
  "batch-ms": { key: "batchMs", option: "delivery.batch.maxMs", unit: "ms", values: [1, 5, 25, 125] },
  "in-flight": { key: "inFlight", option: "delivery.maxInFlight", unit: "batches", values: [1, 2, 4, 16, 64] },
  concurrency: { key: "concurrency", option: "delivery.concurrency", unit: "records", values: [1, 4, 16, 64, 256] },
  "fetch-bytes": { key: "fetchBytes", option: "maxBytesPerPartition", unit: "bytes", values: [65_536, 262_144, 1_048_576, 4_194_304] },
  "fetch-max-bytes": { key: "fetchMaxBytes", option: "maxBytes", unit: "bytes", values: [1_048_576, 4_194_304, 10_485_760, 41_943_040] },
  "partitions-at-once": { key: "partitionsAtOnce", option: "partitionsConsumedConcurrently", unit: "partitions", values: [1, 2, 4, 8] },
};

export function dimensionOf(name: DimensionName): Dimension {
  return { name, ...all[name] };
}

/** The settings with one of them changed. */
export function withValue(tuning: Tuning, { key }: Dimension, value: number): Tuning {
  return { ...tuning, [key]: value };
}

/** The whole numbers halfway to the neighbours by their factors: where the knee may lie between what was measured. */
export function refinedValues(values: readonly number[], knee: number): readonly number[] {
  const sorted = [...new Set(values)].sort((a, b) => a - b);
  const at = sorted.indexOf(knee);
  return [sorted[at - 1], sorted[at + 1]].flatMap((neighbour) => {
    const between = neighbour === undefined ? Number.NaN : Math.round(Math.sqrt(neighbour * knee));
    return Number.isNaN(between) || sorted.includes(between) ? [] : [between];
  });
}
