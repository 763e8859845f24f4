import { ConsumerError } from "../errors.ts";
import { checkChoice, checkCount, checkDelay, checkMembers, checkNumber } from "../option-checks.ts";

/** When a batch of events is handed on: when the first of these limits is reached. */
export interface BatchOptions {
  /**
   * The most events of a batch.
   * @default no bound
   */
  readonly maxEvents?: number;
  /**
   * Bytes of the records' keys and values.
   * @default no bound
   */
  readonly maxBytes?: number;
  /**
   * How long the first event of a batch waits for others.
   * @default 1_000
   */
  readonly maxMs?: number;
}

/**
 * How many records are handled at a time, in which order, and how much is held in memory. `stream()` refuses `concurrency`, `batch` and
 * `maxInFlight`: how many events are in hand there is for its loop to say.
 */
export interface DeliveryOptions {
  /**
   * What keeps its order under concurrency: the records of one key, all records of a partition, or nothing. With `"key"`, the records
   * without a key keep their order among themselves. Order is kept during retries, too: later records wait until the record is handled. A key
   * is its bytes, as for Kafka's partitioner: while the format or the schema id of keys changes, a row has two of them, and `"partition"` keeps
   * its order.
   * @default "key"
   */
  readonly order?: "key" | "partition" | "none";
  /**
   * How many records of a partition are handled at a time: 1 to 256. With 1, or with order `"partition"`, they are handled one after the
   * other.
   * @default 1
   */
  readonly concurrency?: number;
  /**
   * For `batch` handlers and sinks: what is handed on together.
   * @default the events of one fetched batch
   */
  readonly batch?: BatchOptions;
  /**
   * How many fetched batches of a partition are in memory at a time: the one that is being handled, and those that are read ahead of it.
   * @default 1; 2 with concurrency; 64 with sinks, and with `batch`, whose events may come from many fetches
   */
  readonly maxInFlight?: number;
  /**
   * How many bytes of batches that are not handled are in memory, over all partitions. No batch is taken above this limit, but one batch is
   * always taken.
   * @default 67_108_864
   */
  readonly maxInFlightBytes?: number;
  /**
   * How many records reading may run ahead of the first record of a partition that is not handled. A restart repeats no more than these. A
   * `stream()` hands out nothing more until that record is `done()`.
   * @default 10_000
   */
  readonly maxOutOfOrder?: number;
  /**
   * How often handled records are committed. A stop and a rebalance commit at once.
   * @default 1_000
   */
  readonly commitIntervalMs?: number;
}

/** The limits of a batch. Null for the events of one fetched batch. */
export type BatchLimits = Required<BatchOptions> | null;

export interface ResolvedDeliveryOptions {
  readonly order: "key" | "partition" | "none";
  readonly concurrency: number;
  readonly batch: BatchLimits;
  /** Null: as many as the handlers and sinks need. */
  readonly maxInFlight: number | null;
  readonly maxInFlightBytes: number;
  readonly maxOutOfOrder: number;
  readonly commitIntervalMs: number;
}

const members = ["order", "concurrency", "batch", "maxInFlight", "maxInFlightBytes", "maxOutOfOrder", "commitIntervalMs"];

/** Every option present and checked. */
export function resolveDeliveryOptions(options: DeliveryOptions = {}): ResolvedDeliveryOptions {
  checkMembers("delivery", options, members);
  const { order = "key", concurrency = 1, maxInFlightBytes = 67_108_864, maxOutOfOrder = 10_000, commitIntervalMs = 1_000 } = options;
  const batch = resolveBatchLimits("delivery.batch", options.batch);
  const { maxInFlight = null } = options;
  checkChoice("delivery.order", order, ["key", "partition", "none"]);
  checkCount("delivery.concurrency", concurrency);
  checkNumber("delivery.concurrency", concurrency, 1, 256);
  if (maxInFlight !== null) {
    checkCount("delivery.maxInFlight", maxInFlight);
  }
  checkCount("delivery.maxInFlightBytes", maxInFlightBytes);
  checkCount("delivery.maxOutOfOrder", maxOutOfOrder);
  checkDelay("delivery.commitIntervalMs", commitIntervalMs);
  return Object.freeze({ order, concurrency, batch, maxInFlight, maxInFlightBytes, maxOutOfOrder, commitIntervalMs });
}

/** Refuses what has no effect on a `stream()`. Throws a `ConsumerError`. Every `order` is kept there, because events come in that of their partition. */
export function refuseForStream({ concurrency, batch, maxInFlight }: ResolvedDeliveryOptions): void {
  const given = [
    ...(concurrency === 1 ? [] : ["concurrency"]),
    ...(batch === null ? [] : ["batch"]),
    ...(maxInFlight === null ? [] : ["maxInFlight"]),
  ];
  if (given.length > 0) {
    throw new ConsumerError(
      "invalid-option",
      `${given.map((name) => `delivery.${name}`).join(" and ")} would have no effect on stream(), whose loop says how many events it has in hand: leave it out (maxInFlightBytes and maxOutOfOrder bound a stream), or use run()`,
    );
  }
}

/** The limits of a batch, checked. Null if none are given. */
export function resolveBatchLimits(path: string, options: BatchOptions | undefined): BatchLimits {
  if (options === undefined) {
    return null;
  }
  checkMembers(path, options, ["maxEvents", "maxBytes", "maxMs"]);
  for (const name of ["maxEvents", "maxBytes"] as const) {
    if (options[name] !== undefined) {
      checkCount(`${path}.${name}`, options[name]);
    }
  }
  const { maxEvents = Number.POSITIVE_INFINITY, maxBytes = Number.POSITIVE_INFINITY, maxMs = 1_000 } = options;
  checkDelay(`${path}.maxMs`, maxMs);
  return Object.freeze({ maxEvents, maxBytes, maxMs });
}
