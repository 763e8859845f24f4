import { createConsumer, type KafkaDriver, type Logger, type StartPosition } from "@cdckit/consumer";
import { type CdcEvent, createDecoder, type JsonSchemaValidator, type SchemaSource } from "@cdckit/decode";
import { performance } from "node:perf_hooks";
import { longAbsenceOf } from "../registry-fault.ts";
import { meterDecoder, type DecodeErrorCount, type DecodeMeter, type FormatMeasure } from "./decode-meter.ts";
import type { DriverWait } from "./driver-waits.ts";
import { openOutcome } from "./open-outcome.ts";
import { type FetchMeter, meterDriver, type ReadingEnd } from "./fetch-meter.ts";
import { LatencyMeter, type LatencySummary } from "./latency-meter.ts";
import type { ReadingLoad } from "./process-load.ts";
import { meterValidator, type ValidatorMeter } from "./validator-meter.ts";

/** How often a reading is looked at: for progress, for its time, for a stream that ran dry. */
const lookEveryMs = 50;
/** A reading that has a limit on its time waits so much longer for partitions: brokers may hold back a group for some seconds until it is complete. */
const joinWithinMs = 60_000;

export interface ReadingOptions {
  readonly driver: KafkaDriver;
  readonly schemas: SchemaSource | undefined;
  readonly groupId: string;
  readonly topics: readonly string[];
  readonly from: StartPosition;
  readonly end: ReadingEnd;
  /** Counted from the first assignment, as {@link ReadingMeasure} counts: joining the group is no part of the reading. */
  readonly maxDurationMs: number | undefined;
  /** Ends the reading when nothing came for so long. */
  readonly maxIdleMs: number | undefined;
  readonly interrupt: AbortSignal;
  /** What the consumer and its driver log to. @default nothing is logged */
  readonly logger?: Logger;
  /** Called twenty times a second while the reading lasts. What costs more to find out is asked for. */
  readonly onProgress: (soFar: ReadingSoFar, details: () => ReadingDetails) => void;
  /** Called for every event, inside what is measured. */
  readonly onEvent?: (event: CdcEvent) => void;
  /** Checks values against the rules of their JSON Schema. @default nothing is checked */
  readonly validator?: JsonSchemaValidator;
  /** Whether offsets are committed, as a service would. @default false: a measurement leaves no trace in the group */
  readonly commits?: boolean;
  /** Watches what else the process does while records come. It is ended with the reading. */
  readonly load?: ReadingLoad;
  /** A counter of the time that decompressing has taken in this process. @default it is not known, and part of `fetch` */
  readonly decompressedMs?: () => number;
  /** Whether the stream is live, so that a record's age means something. */
  readonly measureLatency: boolean;
}

export interface ReadingSoFar {
  readonly records: number;
  readonly bytes: number;
  readonly elapsedMs: number;
  readonly errorRecords: number;
}

/** Where the time went so far, and how old records were: for a view of the reading while it lasts. */
export interface ReadingDetails {
  /** Shares, 0 to 1. */
  readonly stages: Readonly<Record<"fetch" | "decompress" | "schema" | "decode" | "validate" | "handle", number>>;
  /** A record waits for a schema that the registry does not give. */
  readonly isWaitingForRegistry: boolean;
  /** As {@link FetchMeter.waitsFor} has it. */
  readonly waitsFor: DriverWait | null;
  /** Absent if the stream is not live, or if nothing has come. */
  readonly latencyMs?: { readonly p50: number; readonly p95: number; readonly p99: number };
}

/** Why a reading ended: at the end of its topics, or after as many records as were asked for, or ... */
export type ReadingOutcome = "end-reached" | "limit-reached" | "time-up" | "ran-dry" | "interrupted";

/** Where the time of a reading went. */
export interface StageMeasure {
  /** From asking to join until partitions were assigned; not part of the reading. */
  readonly joinMs: number;
  /** Nothing to do: waiting for the next batch, without what decompressing took of it. */
  readonly fetchMs: number;
  /** Decompressing batches. 0 if it is not known. */
  readonly decompressMs: number;
  /** Waiting for schemas to be fetched, once each. */
  readonly schemaMs: number;
  /** Without validating. */
  readonly decodeMs: number;
  /** Checking values against their JSON Schema; 0 without a validator. */
  readonly validateMs: number;
  /** The rest: walking, routing, handing over. */
  readonly handleMs: number;
  /** Commits under way. They run beside everything else, so they are no part of the sum. */
  readonly commitMs: number;
}

export interface ReadingMeasure extends ReadingSoFar {
  /** Of the reading's time, what passed before the first batch: looking up positions, and the first fetch. */
  readonly firstBatchMs: number;
  readonly outcome: ReadingOutcome;
  /** If it ran dry: the offsets in front of the end that nothing came of, if they are more than transaction markers. 0 otherwise. */
  readonly unread: number;
  /** If it ran dry: what the driver waited for, as {@link FetchMeter.waitsFor} has it. */
  readonly waitsFor: DriverWait | null;
  /** The group was rebalanced before the end: the time that this took is in the figures, and records may be in them twice. */
  readonly wasRebalanced: boolean;
  readonly events: number;
  readonly batches: number;
  readonly stages: StageMeasure;
  readonly formats: readonly FormatMeasure[];
  readonly errors: readonly DecodeErrorCount[];
  readonly latency: LatencySummary | null;
}

/** Reads topics through the consumer and the decoder, as a service would, and measures what happens. Rejects with what halted it, and if its registry stays away. */
export async function measureReading(options: ReadingOptions): Promise<ReadingMeasure> {
  const { schemas, decompressedMs } = options;
  const fetched = meterDriver(options.driver, options.end, { commits: options.commits === true, load: options.load, decompressedMs });
  const validated = options.validator === undefined ? null : meterValidator(options.validator);
  const decoded = meterDecoder(
    createDecoder({ ...(schemas !== undefined && { schemas }), ...(validated !== null && { jsonSchemaValidator: validated.validator }) }),
  );
  const meters: Meters = { fetched, decoded, validated };
  const latency = options.measureLatency ? new LatencyMeter() : null;
  let events = 0;
  const consumer = createConsumer({
    logger: options.logger ?? false,
    driver: fetched.driver,
    groupId: options.groupId,
    topics: options.topics,
    from: options.from,
    decoder: decoded.decoder,
    signals: false,
  });
  consumer.on("*", (event: CdcEvent) => {
    events++;
    latency?.add(event);
    options.onEvent?.(event);
  });
  const running = consumer.run();
  const watch = watchReading(options, meters, latency);
  try {
    const outcome = await Promise.race([running.then(() => "interrupted" as const), watch.outcome]);
    if (outcome === "time-up" || outcome === "interrupted") {
      fetched.breakOff();
    }
    // Before the stop, which ends all waits, and takes the partitions away.
    const waitsFor = outcome === "ran-dry" ? fetched.waitsFor : null;
    const { wasRebalanced } = fetched;
    options.load?.end();
    await consumer.stop();
    await running;
    return { ...summarize(outcome, events, meters, latency), waitsFor, wasRebalanced };
  } finally {
    watch.end();
    options.load?.end();
    await consumer.stop();
  }
}

/** Looks at a reading from time to time, and says when it is over. */
function watchReading(
  options: ReadingOptions,
  meters: Meters,
  latency: LatencyMeter | null,
): { readonly outcome: Promise<ReadingOutcome>; end(): void } {
  const { fetched, decoded } = meters;
  const startedAtMs = performance.now();
  const { outcome, settle, fail } = openOutcome<ReadingOutcome>();
  const isTimeUp = (): boolean => {
    const { maxDurationMs = Number.POSITIVE_INFINITY } = options;
    return (fetched.sinceJoinMs ?? performance.now() - startedAtMs - joinWithinMs) >= maxDurationMs;
  };
  const look = (): void => {
    options.onProgress(soFar(fetched, decoded), () => detailsOf(meters, latency));
    const absence = longAbsenceOf(decoded.registryAwayMs);
    if (options.interrupt.aborted) {
      settle("interrupted");
    } else if (isTimeUp()) {
      settle("time-up");
    } else if (fetched.idleMs >= (options.maxIdleMs ?? Number.POSITIVE_INFINITY)) {
      settle("ran-dry");
    } else if (absence !== null) {
      fail(absence);
    }
  };
  const looking = setInterval(look, lookEveryMs);
  options.interrupt.addEventListener("abort", look);
  void fetched.ended.then(() => settle(fetched.isLimited ? "limit-reached" : "end-reached"));
  return {
    outcome,
    end: () => {
      clearInterval(looking);
      options.interrupt.removeEventListener("abort", look);
    },
  };
}

function soFar(fetched: FetchMeter, decoded: DecodeMeter): ReadingSoFar {
  const { records, bytes, errorRecords } = decoded;
  return { records, bytes, errorRecords, elapsedMs: fetched.readingMs };
}

function detailsOf(meters: Meters, latency: LatencyMeter | null): ReadingDetails {
  const elapsedMs = meters.fetched.readingMs;
  const { fetchMs, decompressMs, schemaMs, decodeMs, validateMs, handleMs } = stagesOf(elapsedMs, meters);
  const share = (ms: number): number => (elapsedMs > 0 ? ms / elapsedMs : 0);
  const stages = {
    fetch: share(fetchMs),
    decompress: share(decompressMs),
    schema: share(schemaMs),
    decode: share(decodeMs),
    validate: share(validateMs),
    handle: share(handleMs),
  };
  const waits = { isWaitingForRegistry: meters.decoded.registryAwayMs > 0, waitsFor: meters.fetched.waitsFor };
  const ages = latency?.summary().sinceRecord;
  if (ages === undefined || ages.count === 0) {
    return { stages, ...waits };
  }
  return { stages, ...waits, latencyMs: { p50: ages.p50Ns / 1e6, p95: ages.p95Ns / 1e6, p99: ages.p99Ns / 1e6 } };
}

function summarize(
  outcome: ReadingOutcome,
  events: number,
  meters: Meters,
  latency: LatencyMeter | null,
): Omit<ReadingMeasure, "waitsFor" | "wasRebalanced"> {
  const { fetched, decoded } = meters;
  const measured = soFar(fetched, decoded);
  return {
    ...measured,
    outcome,
    unread: outcome === "ran-dry" ? fetched.unread : 0,
    events,
    firstBatchMs: fetched.firstBatchMs,
    batches: fetched.batches,
    stages: stagesOf(measured.elapsedMs, meters),
    formats: decoded.formats(),
    errors: decoded.errors(),
    latency: latency?.summary() ?? null,
  };
}

/** What a reading is measured by. */
interface Meters {
  readonly fetched: FetchMeter;
  readonly decoded: DecodeMeter;
  readonly validated: ValidatorMeter | null;
}

/**
 * The stages but for commits add up to the time that passed. The driver decompresses a batch just before it hands it over: while the consumer
 * waits, unless it is at work on a batch of another partition, which that time is no part of. Decoding is an estimate, so it gets at most what
 * all this leaves; validating is inside of it.
 */
function stagesOf(elapsedMs: number, { fetched, decoded, validated }: Meters): StageMeasure {
  const waitMs = Math.min(fetched.waitMs, elapsedMs);
  const decompressedWaitingMs = Math.min(fetched.decompressedWaitingMs, waitMs);
  const decompressedBusyMs = Math.min(fetched.decompressedBusyMs, elapsedMs - waitMs);
  const busyMs = elapsedMs - waitMs - decompressedBusyMs;
  const schemaMs = Math.min(decoded.schemaMs, busyMs);
  const decodingMs = Math.min(decoded.decodeMs(), busyMs - schemaMs);
  const validateMs = Math.min(validated?.validateMs ?? 0, decodingMs);
  return {
    joinMs: fetched.joinMs,
    fetchMs: waitMs - decompressedWaitingMs,
    decompressMs: decompressedWaitingMs + decompressedBusyMs,
    schemaMs,
    decodeMs: decodingMs - validateMs,
    validateMs,
    handleMs: busyMs - schemaMs - decodingMs,
    commitMs: fetched.commitMs,
  };
}
