import { isAbsolute } from "node:path";
import { pathToFileURL } from "node:url";
import type { Decoder } from "@cdckit/decode";
import type { RegistryOptions } from "@cdckit/registry";
import { ConsumerError } from "../errors.ts";
import { check, checkCount, checkMembers } from "../option-checks.ts";
import { type ConsumerOptions, optionNames, type ResolvedConsumerOptions, resolveOptionsWithoutDriver } from "../options.ts";
import type { TelemetryOptions } from "../observe/observe-options.ts";
import type { RunnableConsumer } from "./runnable-consumer.ts";
import { uncrossable } from "./uncrossable.ts";

/**
 * A consumer on several threads. Each thread is a member of the group, with a client, a decoder and handlers of its own. What makes these
 * is `module`. The options are those of `createConsumer` that are data: what is a function, or is made of functions, belongs in the module.
 * All limits (`delivery.maxInFlightBytes`, `delivery.concurrency`) count for each thread.
 */
export interface WorkersOptions extends Omit<ConsumerOptions, "driver" | "registry" | "decoder" | "telemetry" | "clock" | "random"> {
  /** How many threads, at most 256. A partition has one reader: a thread without a partition only waits. */
  readonly workers: number;
  /**
   * The module that each thread loads: a URL, as in `new URL("./orders.js", import.meta.url)`, or an absolute path. Its default export is a
   * {@link MakeWorkerConsumer}.
   */
  readonly module: URL | string;
  /**
   * Bounds on the memory of each thread, as Node's `Worker` takes them. They do not count buffers: `delivery.maxInFlightBytes` and the
   * driver's `maxBytes` bound these. A thread that exceeds a bound has failed.
   * @default Node's own, which are those of the process
   */
  readonly resourceLimits?: WorkerResourceLimits;
  /** Where schemas come from, as data: each thread makes a registry client of it. A source of your own belongs in the module. */
  readonly registry?: RegistryOptions;
  /**
   * The options of each thread's decoder. A decoder of your own belongs in the module.
   * @default those of its members
   */
  readonly decoder?: Exclude<NonNullable<ConsumerOptions["decoder"]>, Decoder>;
  /** `prometheus` gets the figures of all threads together. OpenTelemetry is set up in the module, on the thread whose spans it makes. */
  readonly telemetry?: Pick<TelemetryOptions, "prometheus">;
}

/** Node's names and units: https://nodejs.org/api/worker_threads.html#new-workerfilename-options */
export interface WorkerResourceLimits {
  /** The heap of a thread, in MiB. A thread that exceeds it ends with `worker-failed`. */
  readonly maxOldGenerationSizeMb?: number;
  /** The part of the heap for objects that were made recently, in MiB. */
  readonly maxYoungGenerationSizeMb?: number;
  /** Memory for compiled code, in MiB. */
  readonly codeRangeSizeMb?: number;
  /**
   * The stack of a thread, in MiB.
   * @default 4, Node's own
   */
  readonly stackSizeMb?: number;
}

/**
 * Makes the consumer of one thread, which is run and stopped from outside: `createConsumer({ ...options, driver }).on(...)`. `options` are
 * those of the `WorkersOptions` that concern a member, with a logger that writes to the logger there.
 */
export type MakeWorkerConsumer = (options: WorkerConsumerOptions, worker: WorkerPlace) => RunnableConsumer | Promise<RunnableConsumer>;

/** The options of a member without its client. */
export type WorkerConsumerOptions = Omit<ConsumerOptions, "driver">;

/** Which of the threads this is. */
export interface WorkerPlace {
  /** From 1 on. What must differ between members (`groupInstanceId`, `clientId`, the name of a file) has it in its name. */
  readonly number: number;
  /** How many there are. */
  readonly count: number;
  /** Calls this after the consumer has stopped, to close what the module has opened. A thread that does not end by itself then is ended. */
  onStopped(close: () => unknown): void;
}

/** Every option present and checked, on the thread that starts the others. */
export interface ResolvedWorkersOptions extends Omit<ResolvedConsumerOptions, "driver"> {
  readonly workers: number;
  readonly module: string;
  readonly resourceLimits: WorkerResourceLimits;
  /** What crosses to the threads. */
  readonly crossing: Readonly<Record<string, unknown>>;
  /** Lines of other levels are not sent, because the default logger would drop them. */
  readonly levels: readonly LogLevel[];
}

export type LogLevel = "debug" | "info" | "warn" | "error";

const maxWorkers = 256;
const own = ["workers", "module", "resourceLimits"];
/** What stays on the thread that starts the others: the logger and the metrics join the threads there, and signals come there alone. */
const staying = new Set(["logger", "telemetry", "signals", ...own]);
const limitNames = ["maxOldGenerationSizeMb", "maxYoungGenerationSizeMb", "codeRangeSizeMb", "stackSizeMb"];
const inTheModule = "set it where the module calls createConsumer, on each thread";

/** Every option, present and checked. Throws a `ConsumerError` that names what cannot cross to a thread, and says where it belongs. */
export function resolveWorkersOptions(options: WorkersOptions): ResolvedWorkersOptions {
  checkMembers("", options, [...optionNames, ...own]);
  const given = options as WorkersOptions & Pick<ConsumerOptions, "telemetry">;
  checkCount("workers", given.workers);
  check(given.workers <= maxWorkers, "workers", `at most ${maxWorkers}`, given.workers);
  refuse("driver" in given, "driver", "is a client, which cannot cross to a worker thread");
  refuse(given.telemetry?.opentelemetry !== undefined, "telemetry.opentelemetry", "makes spans on the thread of the handlers");
  const shareable = Object.entries(given).filter(([name, value]) => !staying.has(name) && value !== undefined);
  const crossing = withTextAddresses(Object.fromEntries(shareable));
  const found = uncrossable(crossing);
  refuse(found !== null, found?.path ?? "", `is ${found?.what}, which cannot cross to a worker thread`);
  const { workers: _workers, module: _module, resourceLimits = {}, ...shared } = given;
  return Object.freeze({
    ...resolveOptionsWithoutDriver(shared),
    workers: given.workers,
    module: moduleUrl(given.module),
    resourceLimits: checkLimits(resourceLimits),
    crossing,
    levels: levelsOf(given.logger),
  });
}

/** The registry's addresses may be texts or instances of `URL`, and only texts can cross. */
function withTextAddresses(options: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { registry } = options;
  if (typeof registry !== "object" || registry === null || Object.getPrototypeOf(registry) !== Object.prototype) {
    return options;
  }
  const texts = Object.entries(registry).map(([name, value]) => [name, Array.isArray(value) ? value.map(textOf) : textOf(value)]);
  return { ...options, registry: Object.fromEntries(texts) };
}

function textOf(address: unknown): unknown {
  return address instanceof URL ? address.href : address;
}

function refuse(isRefused: boolean, path: string, why: string): void {
  if (isRefused) {
    throw new ConsumerError("invalid-option", `${path} ${why}: ${inTheModule}`);
  }
}

function moduleUrl(module: unknown): string {
  if (module instanceof URL) {
    return module.href;
  }
  const isPath = typeof module === "string" && isAbsolute(module);
  const expected = 'a URL, as in new URL("./orders.js", import.meta.url), or an absolute path';
  check(isPath || (typeof module === "string" && URL.canParse(module)), "module", expected, module);
  return isPath ? pathToFileURL(module as string).href : (module as string);
}

function checkLimits(limits: WorkerResourceLimits): WorkerResourceLimits {
  checkMembers("resourceLimits", limits, limitNames);
  for (const [name, value] of Object.entries(limits)) {
    check(value === undefined || (typeof value === "number" && value > 0), `resourceLimits.${name}`, "a number of megabytes", value);
  }
  return Object.freeze({ ...limits });
}

function levelsOf(logger: ConsumerOptions["logger"]): readonly LogLevel[] {
  if (logger === false) {
    return [];
  }
  return logger === undefined ? ["warn", "error"] : ["debug", "info", "warn", "error"];
}
