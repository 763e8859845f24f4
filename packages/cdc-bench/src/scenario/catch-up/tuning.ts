import type { DeliveryOptions } from "@cdckit/consumer";
import type { KafkaJsTuning } from "@cdckit/kafkajs";

/** Every setting of the consumer and its driver that a rate depends on. Null: the default of the consumer, or what the driver chooses. */
export interface Tuning {
  /** `delivery.batch.maxEvents`: null for no bound. */
  readonly batchEvents: number | null;
  /** `delivery.batch.maxBytes`: null for no bound. */
  readonly batchBytes: number | null;
  /** `delivery.batch.maxMs`: null if there are no batches. */
  readonly batchMs: number | null;
  /** `delivery.maxInFlight`: fetched batches of a partition in memory. */
  readonly inFlight: number | null;
  readonly inFlightBytes: number;
  readonly concurrency: number;
  readonly order: "key" | "partition" | "none";
  readonly commitIntervalMs: number;
  /** `maxBytesPerPartition`: the most of one partition in a fetch. Null: the driver chooses it by what it fetches. */
  readonly fetchBytes: number | null;
  /** `maxBytes`: the most of all partitions in a fetch. */
  readonly fetchMaxBytes: number;
  readonly fetchWaitMs: number;
  readonly partitionsAtOnce: number;
  /** The most bytes that one record batch may become. Absent: the driver's own limit. */
  readonly maxDecompressedBytes?: number;
}

/** The defaults of `createConsumer` and of `kafkajs()`, written out. */
export const defaultTuning: Tuning = Object.freeze({
  batchEvents: null,
  batchBytes: null,
  batchMs: null,
  inFlight: null,
  inFlightBytes: 67_108_864,
  concurrency: 1,
  order: "key",
  commitIntervalMs: 1_000,
  fetchBytes: null,
  fetchMaxBytes: 10_485_760,
  fetchWaitMs: 500,
  partitionsAtOnce: 1,
});

/** How long the first event of a batch waits for others, if nobody says so: the consumer's second would be the tail of a short drain. */
export const defaultBatchMs = 100;

/** Whether events are handed over in batches that a cap closes. */
export function hasBatchCaps({ batchEvents, batchBytes, batchMs }: Tuning): boolean {
  return batchEvents !== null || batchBytes !== null || batchMs !== null;
}

export function deliveryOf(tuning: Tuning): DeliveryOptions {
  const { batchEvents, batchBytes, batchMs, inFlight } = tuning;
  return {
    order: tuning.order,
    concurrency: tuning.concurrency,
    ...(hasBatchCaps(tuning) && {
      batch: {
        ...(batchEvents !== null && { maxEvents: batchEvents }),
        ...(batchBytes !== null && { maxBytes: batchBytes }),
        maxMs: batchMs ?? defaultBatchMs,
      },
    }),
    ...(inFlight !== null && { maxInFlight: inFlight }),
    maxInFlightBytes: tuning.inFlightBytes,
    commitIntervalMs: tuning.commitIntervalMs,
  };
}

export function driverTuningOf(tuning: Tuning): KafkaJsTuning {
  const { fetchBytes, maxDecompressedBytes } = tuning;
  return {
    ...(fetchBytes !== null && { maxBytesPerPartition: fetchBytes }),
    // A fetch of all partitions that is smaller than that of one would be the bound of both.
    maxBytes: Math.max(tuning.fetchMaxBytes, fetchBytes ?? 0),
    maxWaitMs: tuning.fetchWaitMs,
    partitionsConsumedConcurrently: tuning.partitionsAtOnce,
    ...(maxDecompressedBytes !== undefined && { maxDecompressedBytes }),
  };
}

/** The settings as TypeScript to paste: `createConsumer` with everything that was measured, and places for what is the user's own. */
export function tuningText(tuning: Tuning): string {
  const delivery = deliveryOf(tuning);
  const batch = delivery.batch === undefined ? [] : [`    batch: ${objectText(delivery.batch)},`];
  const { order, concurrency, maxInFlight, maxInFlightBytes, commitIntervalMs } = delivery;
  const driver = Object.entries(driverTuningOf(tuning)).map(([name, value]) => `    ${name}: ${numberText(value as number)},`);
  return [
    'import { createConsumer } from "@cdckit/consumer";',
    'import { kafkajs } from "@cdckit/kafkajs";',
    "",
    "const consumer = createConsumer({",
    "  driver: kafkajs({",
    '    brokers: ["localhost:9092"],',
    ...driver,
    "  }),",
    '  groupId: "my-group",',
    '  topics: ["my-topic"],',
    "  delivery: {",
    `    order: ${JSON.stringify(order)},`,
    `    concurrency: ${numberText(concurrency ?? 1)},`,
    ...batch,
    ...(maxInFlight === undefined ? [] : [`    maxInFlight: ${numberText(maxInFlight)},`]),
    `    maxInFlightBytes: ${numberText(maxInFlightBytes ?? 0)},`,
    `    commitIntervalMs: ${numberText(commitIntervalMs ?? 0)},`,
    "  },",
    "});",
    "",
  ].join("\n");
}

function objectText(fields: object): string {
  const members = Object.entries(fields).map(([name, value]) => `${name}: ${numberText(value as number)}`);
  return `{ ${members.join(", ")} }`;
}

/** `1_000` */
function numberText(value: number): string {
  return value.toLocaleString("en-US").replaceAll(",", "_");
}
