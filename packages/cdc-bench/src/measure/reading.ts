import { createConsumer, type KafkaDriver } from "@cdckit/consumer";
import { type CdcEvent, createDecoder, type SchemaSource } from "@cdckit/decode";
import { performance } from "node:perf_hooks";
import { meterDecoder, type DecodeErrorCount, type DecodeMeter, type FormatMeasure } from "./decode-meter.ts";
import { type FetchMeter, meterDriver, type ReadingEnd } from "./fetch-meter.ts";
import { LatencyMeter, type LatencySummary } from "./latency-meter.ts";

/** How often a reading is looked at: for progress, for its time, for a stream that ran dry. */
const lookEveryMs = 50;

export interface ReadingOptions {
  readonly driver: KafkaDriver;
  readonly schemas: SchemaSource | undefined;
  readonly groupId: string;
  readonly topics: readonly string[];
  readonly from: "earliest" | "latest";
  readonly end: ReadingEnd;
  readonly maxDurationMs: number | undefined;
  /** Ends the reading when nothing came for so long. */
  readonly maxIdleMs: number | undefined;
  readonly interrupt: AbortSignal;
  /** Called twenty times a second while the reading lasts. */
  readonly onProgress: (soFar: ReadingSoFar) => void;
  /** Called for every event, inside what is measured. */
  readonly onEvent?: (event: CdcEvent) => void;
  /** Whether the stream is live, so that a record's age means something. */
  readonly measureLatency: boolean;
}

export interface ReadingSoFar {
  readonly records: number;
  readonly bytes: number;
  readonly elapsedMs: number;
  readonly errorRecords: number;
}

/** Why a reading ended: at the end of its topics, or after as many records as were asked for, or ... */
export type ReadingOutcome = "end-reached" | "limit-reached" | "time-up" | "ran-dry" | "interrupted";

/** Where the time of a reading went. */
export interface StageMeasure {
  /** From asking to join until partitions were assigned; not part of the reading. */
  readonly joinMs: number;
  /** Nothing to do: waiting for the next batch. */
  readonly fetchMs: number;
  /** Waiting for schemas to be fetched, once each. */
  readonly schemaMs: number;
  readonly decodeMs: number;
  /** The rest: walking, routing, handing over, committing. */
  readonly handleMs: number;
}

export interface ReadingMeasure extends ReadingSoFar {
  readonly outcome: ReadingOutcome;
  readonly events: number;
  readonly batches: number;
  readonly stages: StageMeasure;
  readonly formats: readonly FormatMeasure[];
  readonly errors: readonly DecodeErrorCount[];
  readonly latency: LatencySummary | null;
}

/** Reads topics through the consumer and the decoder, as a service would, and measures what happens. Rejects with what halted it. */
export async function measureReading(options: ReadingOptions): Promise<ReadingMeasure> {
  const fetched = meterDriver(options.driver, options.end);
  const decoded = meterDecoder(createDecoder(options.schemas === undefined ? {} : { schemas: options.schemas }));
  const latency = options.measureLatency ? new LatencyMeter() : null;
  let events = 0;
  const consumer = createConsumer({
    logger: false,
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
  const watch = watchReading(options, fetched, decoded);
  try {
    const outcome = await Promise.race([running.then(() => "interrupted" as const), watch.outcome]);
    await consumer.stop();
    await running;
    return summarize(outcome, events, fetched, decoded, latency);
  } finally {
    watch.end();
  }
}

/** Looks at a reading from time to time, and says when it is over. */
function watchReading(
  options: ReadingOptions,
  fetched: FetchMeter,
  decoded: DecodeMeter,
): { readonly outcome: Promise<ReadingOutcome>; end(): void } {
  const startedAtMs = performance.now();
  let settle: (outcome: ReadingOutcome) => void = () => {};
  const outcome = new Promise<ReadingOutcome>((resolve) => {
    settle = resolve;
  });
  const look = (): void => {
    options.onProgress(soFar(fetched, decoded));
    if (options.interrupt.aborted) {
      settle("interrupted");
    } else if (performance.now() - startedAtMs >= (options.maxDurationMs ?? Number.POSITIVE_INFINITY)) {
      settle("time-up");
    } else if (fetched.idleMs >= (options.maxIdleMs ?? Number.POSITIVE_INFINITY)) {
      settle("ran-dry");
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

function summarize(
  outcome: ReadingOutcome,
  events: number,
  fetched: FetchMeter,
  decoded: DecodeMeter,
  latency: LatencyMeter | null,
): ReadingMeasure {
  const measured = soFar(fetched, decoded);
  return {
    ...measured,
    outcome,
    events,
    batches: fetched.batches,
    stages: stagesOf(measured.elapsedMs, fetched, decoded),
    formats: decoded.formats(),
    errors: decoded.errors(),
    latency: latency?.summary() ?? null,
  };
}

/** The stages add up to the time that passed; decoding is an estimate, so it gets at most what waiting leaves. */
function stagesOf(elapsedMs: number, fetched: FetchMeter, decoded: DecodeMeter): StageMeasure {
  const fetchMs = Math.min(fetched.waitMs, elapsedMs);
  const schemaMs = Math.min(decoded.schemaMs, elapsedMs - fetchMs);
  const decodeMs = Math.min(decoded.decodeMs(), elapsedMs - fetchMs - schemaMs);
  return { joinMs: fetched.joinMs, fetchMs, schemaMs, decodeMs, handleMs: elapsedMs - fetchMs - schemaMs - decodeMs };
}
