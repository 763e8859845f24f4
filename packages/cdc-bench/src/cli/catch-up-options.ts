import { type Command, InvalidArgumentError, Option } from "commander";
import { collectFaults, type Fault } from "../load/fault.ts";
import { defaultTuning, type Tuning } from "../scenario/catch-up/tuning.ts";
import { parseCount, parseDurationMs } from "./option-values.ts";

/** The settings of the consumer and its driver, as flags say them. */
export interface TuningFlags {
  readonly batchEvents?: number;
  readonly batchBytes?: number;
  readonly batchMs?: number;
  readonly inFlight?: number;
  readonly inFlightBytes?: number;
  readonly concurrency?: number;
  readonly order?: Tuning["order"];
  readonly commitInterval?: number;
  readonly fetchBytes?: number;
  readonly fetchMaxBytes?: number;
  /** A flag of the commands alone that read topics of others. */
  readonly maxDecompressedBytes?: number;
  readonly fetchWait?: number;
  readonly partitionsAtOnce?: number;
}

export function addTuningFlags(command: Command): Command {
  return command
    .option("--batch-events <count>", "delivery.batch.maxEvents: events are handed over in batches", parseCount)
    .option("--batch-bytes <bytes>", "delivery.batch.maxBytes (3m is 3,000,000)", parseCount)
    .option("--batch-ms <time>", "delivery.batch.maxMs, such as 100ms", parseDurationMs)
    .option("--in-flight <count>", "delivery.maxInFlight: fetched batches of a partition in memory", parseCount)
    .option("--in-flight-bytes <bytes>", "delivery.maxInFlightBytes (default: 67108864)", parseCount)
    .option("--concurrency <count>", "delivery.concurrency: records of a partition at a time (default: 1)", parseConcurrency)
    .addOption(new Option("--order <what>", "delivery.order: what keeps its order (default: key)").choices(["key", "partition", "none"]))
    .option("--commit-interval <time>", "delivery.commitIntervalMs (default: 1s)", parseDurationMs)
    .option("--fetch-max-bytes <bytes>", "most bytes of all partitions in one fetch (default: 10485760)", parseCount)
    .option("--fetch-wait <time>", "how long a fetch without records waits on the broker (default: 500ms)", parseDurationMs)
    .option("--partitions-at-once <count>", "batches of so many partitions are handed over at a time (default: 1)", parseCount);
}

/** Every setting; those without a flag have the default of the consumer and the driver, or are left to them. */
export function resolveTuning(flags: TuningFlags): Tuning {
  return {
    batchEvents: flags.batchEvents ?? null,
    batchBytes: flags.batchBytes ?? null,
    batchMs: flags.batchMs ?? null,
    inFlight: flags.inFlight ?? null,
    inFlightBytes: flags.inFlightBytes ?? defaultTuning.inFlightBytes,
    concurrency: flags.concurrency ?? defaultTuning.concurrency,
    order: flags.order ?? defaultTuning.order,
    commitIntervalMs: flags.commitInterval ?? defaultTuning.commitIntervalMs,
    fetchBytes: flags.fetchBytes ?? null,
    fetchMaxBytes: flags.fetchMaxBytes ?? defaultTuning.fetchMaxBytes,
    fetchWaitMs: flags.fetchWait ?? defaultTuning.fetchWaitMs,
    partitionsAtOnce: flags.partitionsAtOnce ?? defaultTuning.partitionsAtOnce,
    ...(flags.maxDecompressedBytes !== undefined && { maxDecompressedBytes: flags.maxDecompressedBytes }),
  };
}

/** As `load/change-events` has them, which is not loaded for `--help`: a test holds the two equal. */
export const formatNames: readonly string[] = ["json-with-schema", "json", "json-schema", "avro", "protobuf"];

/** What is written before it is measured. */
export interface BacklogFlags {
  readonly partitions: number;
  readonly writers: number;
  readonly format: string;
  readonly compression: "none" | "gzip";
  readonly seed: number;
}

export function addBacklogFlags(command: Command): Command {
  return command
    .option("--partitions <count>", "of the topic that is made for it", parseCount, 4)
    .option("--writers <count>", "who write the backlog at the same time, each with its connection", parseCount, 32)
    .addOption(new Option("--format <name>", "how the events are written").choices(formatNames).default("json"))
    .addOption(new Option("--compression <name>", "of the written batches").choices(["none", "gzip"]).default("none"))
    .option("--seed <n>", "what the rows are made from", parseCount, 1);
}

/** What stands between the consumer and the brokers. */
export interface ProxyFlags {
  readonly fault?: readonly Fault[];
  /** `--proxy` and `--no-proxy`; absent: a proxy if there are faults. */
  readonly proxy?: boolean;
}

export function addProxyFlags(command: Command): Command {
  return command
    .option(
      "--fault <what>",
      "latency=50ms, bandwidth=10mbit, cut@5s, blackhole@5s..10s since the start of each measured consumer; repeatable",
      collectFaults,
    )
    .option("--proxy", "go through the built-in TCP proxy also without faults")
    .option("--no-proxy", "go past it: faults are left out");
}

export function resolveProxy({ fault = [], proxy }: ProxyFlags): { readonly faults: readonly Fault[]; readonly usesProxy: boolean } {
  const usesProxy = proxy ?? fault.length > 0;
  return { faults: usesProxy ? fault : [], usesProxy };
}

function parseConcurrency(text: string): number {
  const count = parseCount(text);
  if (count > 256) {
    throw new InvalidArgumentError("It must not exceed 256.");
  }
  return count;
}
