import type { Decoder, DecoderOptions, SchemaSource } from "@cdckit/decode";
import type { RegistryOptions } from "@cdckit/registry";
import { type Clock, systemClock } from "./clock.ts";
import type { KafkaDriver } from "./driver.ts";
import { ConsumerError } from "./errors.ts";
import { type Logger, silentLogger } from "./observe/logger.ts";

export interface DeliveryOptions {
  /**
   * What keeps its order. Partitions are handled in order throughout, so keys are too.
   * @default "key"
   */
  readonly order?: "key" | "partition";
  /**
   * How many events of a partition are handled at a time. Only 1 is built.
   * @default 1
   */
  readonly concurrency?: number;
  /**
   * `stream()` takes batches from the driver until those with events that are not done hold this much; one batch is always taken. `run()`
   * takes the next batch of a partition when the last one is handled.
   * @default 67_108_864
   */
  readonly maxInFlightBytes?: number;
  /**
   * How often what is handled is committed. A stop and a rebalance commit at once.
   * @default 1_000
   */
  readonly commitIntervalMs?: number;
}

export interface FailureOptions {
  /**
   * What happens at a record that cannot be decoded or handled: the consumer stops in front of it, and `run()` rejects. Only this is built.
   * @default "halt"
   */
  readonly poison?: "halt";
}

export interface ConsumerOptions {
  /** The Kafka client: `kafkajs({ brokers })`, `memory({ topics })`, ... */
  readonly driver: KafkaDriver;
  readonly groupId: string;
  /** Topic names, and regular expressions over topic names. */
  readonly topics: readonly (string | RegExp)[];
  /**
   * Where a partition starts for which the group has no committed offset. With `"latest"` that is the end at each assignment: until the
   * group's first commit of a partition, a rebalance or a restart passes over what was written in between.
   * @default "earliest"
   */
  readonly from?: "earliest" | "latest";
  /** Where schemas come from: the options of `createRegistry`, or a source of your own. Not needed for JSON. */
  readonly registry?: RegistryOptions | SchemaSource;
  /** How values are made, what topics cannot say of themselves, and the bounds; or a decoder of your own. */
  readonly decoder?: Pick<DecoderOptions, "values" | "topics" | "limits"> | Decoder;
  readonly delivery?: DeliveryOptions;
  readonly failure?: FailureOptions;
  /** pino, or anything with its four methods. */
  readonly logger?: Logger;
  /**
   * Signals that stop the consumer during `run()`: the first one drains and commits, a second one stops waiting. The process is never
   * ended here: it ends by itself when nothing is left to do.
   * @default ["SIGTERM", "SIGINT"]
   */
  readonly signals?: readonly NodeJS.Signals[] | false;
  /**
   * How long a stop waits for what is in flight, and then for the driver.
   * @default 10_000
   */
  readonly shutdownTimeoutMs?: number;
  /**
   * Where all time comes from; meant for tests that own it.
   * @default systemClock
   */
  readonly clock?: Clock;
}

/** Every option present: the only form that the rest of the package sees. */
export interface ResolvedConsumerOptions {
  readonly driver: KafkaDriver;
  readonly groupId: string;
  readonly topics: readonly (string | RegExp)[];
  readonly from: "earliest" | "latest";
  readonly registry: RegistryOptions | SchemaSource | undefined;
  readonly decoder: Pick<DecoderOptions, "values" | "topics" | "limits"> | Decoder;
  readonly maxInFlightBytes: number;
  readonly commitIntervalMs: number;
  readonly logger: Logger;
  readonly signals: readonly NodeJS.Signals[];
  readonly shutdownTimeoutMs: number;
  readonly clock: Clock;
}

type Plain = Readonly<Record<string, unknown>>;

const deliveryDefaults = Object.freeze({ order: "key", concurrency: 1, maxInFlightBytes: 67_108_864, commitIntervalMs: 1_000 });

/** Options of the public contract that are not carried out yet. Taking them in silence would promise what does not happen. */
const notBuilt: Readonly<Record<string, string>> = {
  "delivery.batch": "batches are the driver's fetched batches for now",
  "failure.retry": "a failing handler halts the consumer for now; retry inside the handler",
  "failure.deadLetterTopic": "a poison record halts the consumer for now",
  telemetry: "read consumer.health() for now",
};

const known: Readonly<Record<string, readonly string[]>> = {
  "": [
    "driver",
    "groupId",
    "topics",
    "from",
    "registry",
    "decoder",
    "delivery",
    "failure",
    "logger",
    "signals",
    "shutdownTimeoutMs",
    "clock",
    "telemetry",
  ],
  delivery: ["order", "concurrency", "maxInFlightBytes", "commitIntervalMs", "batch"],
  failure: ["poison", "retry", "deadLetterTopic"],
};

/** Every option present and checked, or a `ConsumerError` that names the one that is wrong and says what to do. */
export function resolveConsumerOptions(options: ConsumerOptions): ResolvedConsumerOptions {
  const delivery = { ...deliveryDefaults, ...options.delivery };
  refuseUnknown("", options as unknown as Plain);
  refuseUnknown("delivery", (options.delivery ?? {}) as Plain);
  refuseUnknown("failure", (options.failure ?? {}) as Plain);
  checkDriver(options.driver);
  checkTopics(options.topics);
  checkDelivery(delivery);
  check(typeof options.groupId === "string" && options.groupId !== "", "groupId", "a name for the consumer group", options.groupId);
  check(options.from === undefined || ["earliest", "latest"].includes(options.from), "from", '"earliest" or "latest"', options.from);
  checkChoice("failure.poison", options.failure?.poison ?? "halt", "halt", ["dead-letter", "park-key"]);
  const shutdownTimeoutMs = options.shutdownTimeoutMs ?? 10_000;
  checkCount("shutdownTimeoutMs", shutdownTimeoutMs);
  return Object.freeze({
    driver: options.driver,
    groupId: options.groupId,
    topics: Object.freeze([...options.topics]),
    from: options.from ?? "earliest",
    registry: options.registry,
    decoder: options.decoder ?? {},
    maxInFlightBytes: delivery.maxInFlightBytes,
    commitIntervalMs: delivery.commitIntervalMs,
    logger: options.logger ?? silentLogger,
    signals: Object.freeze([...(options.signals === false ? [] : (options.signals ?? ["SIGTERM", "SIGINT"]))]),
    shutdownTimeoutMs,
    clock: options.clock ?? systemClock,
  });
}

function checkDriver(driver: unknown): void {
  const connects = typeof driver === "object" && driver !== null && typeof (driver as Plain)["connect"] === "function";
  check(connects, "driver", "a driver, such as kafkajs({ brokers })", typeof driver);
}

function checkTopics(topics: unknown): void {
  const fits =
    Array.isArray(topics) &&
    topics.length > 0 &&
    topics.every((topic) => topic instanceof RegExp || (typeof topic === "string" && topic !== ""));
  check(fits, "topics", "at least one topic name or regular expression", topics);
}

function checkDelivery(delivery: Readonly<Record<keyof typeof deliveryDefaults, unknown>>): void {
  checkCount("delivery.concurrency", delivery.concurrency);
  checkCount("delivery.maxInFlightBytes", delivery.maxInFlightBytes);
  checkCount("delivery.commitIntervalMs", delivery.commitIntervalMs);
  check(["key", "partition"].includes(delivery.order as string), "delivery.order", '"key" or "partition"', delivery.order);
  if (delivery.concurrency !== 1) {
    refuse("delivery.concurrency", "events of a partition are handled one after the other for now; leave it at 1");
  }
}

function refuseUnknown(group: string, given: Plain): void {
  for (const [name, value] of Object.entries(given)) {
    const path = group === "" ? name : `${group}.${name}`;
    if (value === undefined) {
      continue;
    }
    if (!known[group]?.includes(name)) {
      throw new ConsumerError("invalid-option", `${path} is no option; there are ${known[group]?.join(", ")}`);
    }
    if (Object.hasOwn(notBuilt, path)) {
      refuse(path, notBuilt[path] ?? "");
    }
  }
}

function checkChoice(path: string, value: unknown, built: string, planned: readonly string[]): void {
  if (planned.includes(value as string)) {
    refuse(path, `${JSON.stringify(value)} is not built; use ${JSON.stringify(built)}`);
  }
  check(value === built, path, JSON.stringify(built), value);
}

function checkCount(path: string, value: unknown): void {
  check(Number.isSafeInteger(value) && (value as number) >= 1, path, "a positive integer", value);
}

function check(fits: boolean, path: string, expected: string, found: unknown): void {
  if (!fits) {
    const text = typeof found === "string" ? JSON.stringify(found) : String(found);
    throw new ConsumerError("invalid-option", `${path} must be ${expected}, got ${text}`);
  }
}

function refuse(path: string, instead: string): never {
  throw new ConsumerError("unsupported-option", `${path} is not carried out by this version: ${instead}`);
}
