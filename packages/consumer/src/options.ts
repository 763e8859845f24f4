import { constants, hostname } from "node:os";
import process from "node:process";
import type { Decoder, DecoderOptions, SchemaSource } from "@cdckit/decode";
import type { RegistryOptions } from "@cdckit/registry";
import { type Clock, systemClock } from "./clock.ts";
import { type DeliveryOptions, type ResolvedDeliveryOptions, resolveDeliveryOptions } from "./delivery/delivery-options.ts";
import type { KafkaDriver } from "./driver.ts";
import { ConsumerError } from "./errors.ts";
import { type FailureOptions, type ResolvedFailureOptions, resolveFailureOptions } from "./failure/failure-options.ts";
import { type Logger, silentLogger } from "./observe/logger.ts";
import {
  type HealthOptions,
  type ResolvedHealthOptions,
  resolveHealthOptions,
  resolveTelemetryOptions,
  type TelemetryOptions,
} from "./observe/observe-options.ts";
import { redacting } from "./observe/redacting-logger.ts";
import { type ResolvedStart, resolveStartOption, type StartOption } from "./start-position.ts";
import { guardedClock, guardedRandom } from "./user-code/guarded-clock.ts";
import { guardedLogger } from "./user-code/guarded-logger.ts";
import { UserFunctions } from "./user-code/user-functions.ts";
import { readMember } from "./user-code/user-value.ts";
import { lineWriter } from "./observe/line-writer.ts";
import { stderrLogger } from "./observe/stderr-logger.ts";
import type { Startup } from "./startup.ts";
import { check, checkChoice, checkDelay, checkMembers, checkMethods } from "./option-checks.ts";

/** The options of the decoder that the consumer sets itself. */
type OwnDecoderOptions = "schemas" | "selectColumns";

/** The options of `createConsumer`. `driver`, `groupId` and `topics` are required. */
export interface ConsumerOptions {
  /** The Kafka client: `kafkajs({ brokers })`, `memory({ topics })`, ... */
  readonly driver: KafkaDriver;
  /** The name of the consumer group, under which Kafka keeps the offsets that are committed. */
  readonly groupId: string;
  /** Topic names, and regular expressions over topic names. */
  readonly topics: readonly (string | RegExp)[];
  /**
   * Where a partition starts if the group has no committed offset. `"latest"` is the end: once `health().ready` is true, what is written from
   * then on is read. A topic or a partition that is added while the consumer runs is read from its first record, whenever it is found. It may
   * also be `{ timestamp }` (a date, milliseconds or an ISO text), `{ ago: "2h" }` (before the start of the consumer) or
   * `{ offsets: { topic: { 0: 1_200n } } }` (partitions that are left out start at the earliest record; an offset that the log does not
   * have is a lost range). A start at the end or at a time is committed at once, so that a restart or another member does not start later.
   * Brokers forget the offsets of a group that has had no member for `offsets.retention.minutes`, seven days by default: after a stop that was
   * longer, partitions start here again, and `"latest"` passes over what was written meanwhile.
   * @default "earliest"
   */
  readonly from?: StartOption;
  /** Where schemas come from: the options of `createRegistry`, or a source of your own. Not needed for JSON. */
  readonly registry?: RegistryOptions | SchemaSource | undefined;
  /**
   * The options of `createDecoder`: how values are made, what topics cannot say themselves, the limits. Schemas come from `registry`, and
   * handlers name their columns. Or a decoder of your own, which then has its schemas already: `registry` is refused beside it.
   * @default those of its members
   */
  readonly decoder?: Omit<DecoderOptions, OwnDecoderOptions> | Decoder;
  /**
   * If this is set, an event that no handler and no sink takes halts the consumer before it is committed. This includes tombstones,
   * truncates and control events: each kind that comes needs a handler, which may do nothing.
   * @default false
   */
  readonly strict?: boolean;
  /**
   * In which order, how many at a time, and how much memory: orders, concurrency, batches and bounds.
   * @default those of its members
   */
  readonly delivery?: DeliveryOptions;
  /**
   * What happens to records that fail, and to records that are gone: retries, dead letters, the halt.
   * @default those of its members
   */
  readonly failure?: FailureOptions;
  /**
   * pino, or any object with its four methods. `false`: nothing is logged.
   * @default warnings and errors, one line of JSON each, as pino writes them to stderr
   */
  readonly logger?: Logger | false;
  /**
   * Signals that stop the consumer during `run()`: the first one drains and commits, and a second one stops waiting. The same signal again
   * within a second is the same key press: under `npm start`, a Ctrl-C can come from the terminal and from npm. The consumer never ends the
   * process. The process ends by itself when nothing is left to do. Signals that no process can listen to (`SIGKILL`, `SIGSTOP`) are
   * refused.
   * @default ["SIGTERM", "SIGINT"]
   */
  readonly signals?: readonly NodeJS.Signals[] | false;
  /**
   * What a start does if no broker can be reached. `"fail"`: `run()` rejects. `"wait"`: the consumer tries again with growing gaps of up to
   * 30 s, reports this in `health()` and the log, and goes on until a stop. What waiting does not help (a refused login, a missing topic)
   * is an error with either.
   * @default "fail"
   */
  readonly startup?: Startup;
  /**
   * How long a stop waits for what is in flight, in milliseconds, and then once more for the last commit, the driver and the sinks together;
   * a rebalance waits as long for what is in flight. After `run()` has settled, nothing of ours keeps the process alive.
   * @default 10_000
   */
  readonly shutdownTimeoutMs?: number;
  /**
   * When `health()` reports a consumer as stuck.
   * @default those of its members
   */
  readonly health?: HealthOptions;
  /** Who gets reports of handler calls, besides the channels `cdckit:consumer:*` of `node:diagnostics_channel`. */
  readonly telemetry?: TelemetryOptions;
  /**
   * Where all time comes from. For tests that own the clock.
   * @default systemClock
   */
  readonly clock?: Clock;
  /**
   * Numbers from 0 to below 1, for the jitter of retries. For tests whose runs must be the same.
   * @default Math.random
   */
  readonly random?: () => number;
}

/** Every option present: the only form that the rest of the package sees. */
export interface ResolvedConsumerOptions {
  readonly driver: KafkaDriver;
  readonly groupId: string;
  readonly topics: readonly (string | RegExp)[];
  readonly from: ResolvedStart;
  readonly isFromGiven: boolean;
  readonly registry: RegistryOptions | SchemaSource | undefined;
  readonly decoder: Omit<DecoderOptions, OwnDecoderOptions> | Decoder;
  readonly strict: boolean;
  readonly delivery: ResolvedDeliveryOptions;
  readonly failure: ResolvedFailureOptions;
  readonly logger: Logger;
  readonly signals: readonly NodeJS.Signals[];
  readonly startup: Startup;
  readonly shutdownTimeoutMs: number;
  readonly health: ResolvedHealthOptions;
  readonly telemetry: TelemetryOptions;
  readonly clock: Clock;
  readonly random: () => number;
  /** Gets the failures of functions among the options. */
  readonly userFunctions: UserFunctions;
}

type Plain = Readonly<Record<string, unknown>>;

/** The names of all options. */
export const optionNames: readonly string[] = [
  "driver",
  "groupId",
  "topics",
  "from",
  "registry",
  "decoder",
  "strict",
  "delivery",
  "failure",
  "logger",
  "signals",
  "startup",
  "shutdownTimeoutMs",
  "clock",
  "random",
  "health",
  "telemetry",
];

/** Every option, present and checked. Throws a `ConsumerError` that names a wrong option and says what to do. */
export function resolveConsumerOptions(options: ConsumerOptions): ResolvedConsumerOptions {
  checkMembers("", options, optionNames);
  checkDriver(options.driver);
  return Object.freeze({ driver: options.driver, ...resolveOptionsWithoutDriver(options) });
}

/** The options that do not depend on the client: all that is known on a thread that only starts others. */
export function resolveOptionsWithoutDriver(options: Omit<ConsumerOptions, "driver">): Omit<ResolvedConsumerOptions, "driver"> {
  checkTopics(options.topics);
  check(typeof options.groupId === "string" && options.groupId !== "", "groupId", "a name for the consumer group", options.groupId);
  const { from = "earliest", startup = "fail", shutdownTimeoutMs = 10_000 } = options;
  checkChoice("startup", startup, ["fail", "wait"]);
  checkDelay("shutdownTimeoutMs", shutdownTimeoutMs);
  check(options.strict === undefined || typeof options.strict === "boolean", "strict", "true or false", options.strict);
  const delivery = resolveDeliveryOptions(options.delivery);
  const failure = resolveFailureOptions(options.failure);
  checkDecoder(options.decoder, options.registry);
  checkClock(options.clock);
  check(options.random === undefined || typeof options.random === "function", "random", "a function", options.random);
  refuseOwnDeadLetters(options.topics, failure.deadLetterTopic);
  const userFunctions = new UserFunctions();
  return Object.freeze({
    groupId: options.groupId,
    topics: Object.freeze([...options.topics]),
    from: resolveStartOption(from),
    isFromGiven: options.from !== undefined,
    registry: options.registry,
    decoder: options.decoder ?? {},
    strict: options.strict ?? false,
    delivery,
    failure,
    logger: resolveLogger(options.logger, options.clock ?? systemClock, userFunctions),
    signals: resolveSignals(options.signals),
    startup,
    shutdownTimeoutMs,
    health: resolveHealthOptions(options.health),
    telemetry: resolveTelemetryOptions(options.telemetry),
    clock: guardedClock(options.clock ?? systemClock, userFunctions),
    random: guardedRandom(options.random ?? Math.random, userFunctions),
    userFunctions,
  });
}

function resolveLogger(logger: Logger | false | undefined, clock: Clock, userFunctions: UserFunctions): Logger {
  if (logger === false) {
    return silentLogger;
  }
  if (logger !== undefined) {
    checkMethods(
      "logger",
      logger,
      ["debug", "info", "warn", "error"],
      "pino, an object with the methods debug, info, warn and error, or false",
    );
  }
  const write = lineWriter(process.stderr);
  const target = logger ?? stderrLogger({ write, wallMs: () => clock.wallMs(), pid: process.pid, hostname: hostname() });
  return guardedLogger(redacting(target), userFunctions);
}

/** Signals that no process can listen to. */
const uncatchable: readonly unknown[] = ["SIGKILL", "SIGSTOP"];

function resolveSignals(signals: ConsumerOptions["signals"] = ["SIGTERM", "SIGINT"]): readonly NodeJS.Signals[] {
  if (signals === false) {
    return Object.freeze([]);
  }
  const isSignal = (name: unknown): boolean =>
    typeof name === "string" && Object.hasOwn(constants.signals, name) && !uncatchable.includes(name);
  const fits = Array.isArray(signals) && signals.every(isSignal);
  check(fits, "signals", 'false, or an array of signals that a process can listen to, such as ["SIGTERM"]', signals);
  return Object.freeze([...new Set(signals)]); // one that is named twice would be the first signal and the second
}

function checkDriver(driver: unknown): void {
  const connects = typeof driver === "object" && driver !== null && typeof (driver as Plain)["connect"] === "function";
  check(connects, "driver", "a driver, such as kafkajs({ brokers })", typeof driver);
}

/** Everything else of a clock is checked when it is used. */
function checkClock(clock: unknown): void {
  const isOld = readMember(clock, "yieldToEventLoop") === undefined && readMember(clock, "breathe") !== undefined;
  check(!isOld, "clock.yieldToEventLoop", "a function (it was called breathe before)", undefined);
}

/** A new option of the decoder does not compile without a name here. */
const decoderOptions: Readonly<Record<keyof Omit<DecoderOptions, OwnDecoderOptions>, true>> = {
  values: true,
  topics: true,
  limits: true,
  validation: true,
  jsonSchemaValidator: true,
  learn: true,
  apicurioIds: true,
  formats: true,
  onSchema: true,
};

function checkDecoder(decoder: unknown = {}, registry: unknown): void {
  if (typeof decoder === "object" && decoder !== null && "decodeAt" in decoder) {
    if (registry !== undefined) {
      throw new ConsumerError("invalid-option", "registry is not asked by a decoder of your own: give it to createDecoder as schemas");
    }
    return;
  }
  if (typeof decoder === "object" && decoder !== null && (decoder as Plain)["schemas"] !== undefined) {
    throw new ConsumerError("invalid-option", "decoder.schemas is no option of a consumer: give the schema source as registry");
  }
  checkMembers("decoder", decoder, Object.keys(decoderOptions));
  const { onSchema } = decoder as Plain;
  check(onSchema === undefined || typeof onSchema === "function", "decoder.onSchema", "a function", onSchema);
}

function checkTopics(topics: unknown): void {
  const fits =
    Array.isArray(topics) &&
    topics.length > 0 &&
    topics.every((topic) => topic instanceof RegExp || (typeof topic === "string" && topic !== ""));
  check(fits, "topics", "a list of at least one topic name or regular expression", topics);
}

/** If a dead letter came back to the consumer that wrote it, it would become a dead letter again, without end. */
function refuseOwnDeadLetters(topics: readonly (string | RegExp)[], deadLetterTopic: string | null): void {
  const own = topics.find((topic) =>
    typeof topic === "string" ? topic === deadLetterTopic : (deadLetterTopic?.search(topic) ?? -1) !== -1,
  );
  if (deadLetterTopic !== null && own !== undefined) {
    throw new ConsumerError(
      "invalid-option",
      `topics ${String(own)} includes failure.deadLetterTopic ${JSON.stringify(deadLetterTopic)}: dead letters would come back to the consumer that wrote them; exclude it`,
    );
  }
}
