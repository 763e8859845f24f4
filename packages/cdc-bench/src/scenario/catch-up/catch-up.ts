import { type Consumer, createConsumer, type Health } from "@cdckit/consumer";
import { createDecoder, type SchemaSource } from "@cdckit/decode";
import { kafkajs } from "@cdckit/kafkajs";
import { performance } from "node:perf_hooks";
import { type ClusterConnection, kafkaConfigOf, throwAwaySession } from "../../load/connection.ts";
import type { FaultProxy } from "../../load/fault-proxy.ts";
import { type DecodeErrorCount, type DecodeMeter, meterDecoder } from "../../measure/decode-meter.ts";
import type { DurationSummary } from "../../measure/duration-histogram.ts";
import { openOutcome } from "../../measure/open-outcome.ts";
import type { RateSeriesSummary } from "../../measure/rate-series.ts";
import type { Observer } from "../../observe/observer.ts";
import { longAbsenceOf } from "../../registry-fault.ts";
import type { CapCounts } from "./cap-tally.ts";
import { createHandledMeter, type HandledMeter } from "./handled-meter.ts";
import { type DriverTap, type Places, tapDriver } from "./tap-driver.ts";
import type { OpenTarget } from "./target.ts";
import { deliveryOf, driverTuningOf, type Tuning } from "./tuning.ts";

/** How often a run is looked at: whether it is at the end, and what it waits for. */
const lookEveryMs = 50;
const firstEventWithinMs = 30_000;
/** Waits that last so long are said. */
const sayWaitsAfterMs = 1_000;

export interface CatchUpOptions {
  readonly connection: ClusterConnection;
  readonly groupId: string;
  readonly topics: readonly string[];
  /** The offset after the last record, of each partition that has any. */
  readonly ends: Places;
  /** How many records there are until then, for progress. */
  readonly expectedRecords: number;
  readonly tuning: Tuning;
  readonly schemas: SchemaSource | undefined;
  readonly target: OpenTarget;
  /** Between the consumer and the brokers. Its faults begin with this run. */
  readonly proxy: FaultProxy | null;
  readonly interrupt: AbortSignal;
  readonly observer: Observer;
  /** What is shown while it runs, such as `resume 2 of 6`. */
  readonly phase: string;
  /** Ends the run so long after its first event, or if none comes for half a minute longer. */
  readonly maxDurationMs?: number | undefined;
}

export type CatchUpOutcome = "caught-up" | "interrupted" | "time-up";

export interface CatchUpMeasure {
  readonly outcome: CatchUpOutcome;
  /** From the start of the consumer until it was given partitions. */
  readonly joinMs: number;
  /** From the start of the consumer until the first event was handled. Null if none was. */
  readonly firstEventMs: number | null;
  readonly events: number;
  readonly records: number;
  /** Key and value of all records. */
  readonly bytes: number;
  /** From the first to the last event, or to where it was broken off. */
  readonly rate: RateSeriesSummary;
  readonly bytesPerSecond: number;
  readonly fetches: number;
  /** Calls of a batch handler or a sink. */
  readonly batches: number;
  readonly calls: DurationSummary;
  /** Which cap closed batches. Null if there are none. */
  readonly caps: CapCounts | null;
  readonly commits: DurationSummary;
  readonly transactions: DurationSummary;
  /** The share of decoding in the time, 0 to 1: an estimate from one record in thirty-two. */
  readonly decodeShare: number;
  readonly reconnects: number;
  /** Time in which the consumer said that it waits for something, such as the brokers. */
  readonly waitedMs: number;
  readonly firstOffsets: Places;
  readonly errors: readonly DecodeErrorCount[];
}

/** Starts a consumer of the group, and measures it until it has handled everything up to the ends. Rejects with what halted it. */
export async function catchUp(options: CatchUpOptions): Promise<CatchUpMeasure> {
  const { connection, tuning, proxy, target } = options;
  const driver = kafkajs({
    ...kafkaConfigOf(connection),
    ...driverTuningOf(tuning),
    ...throwAwaySession,
    ...(proxy !== null && { connectTo: proxy.connectTo }),
  });
  const tap = tapDriver(driver);
  const onSchema = target.schemaSeen?.bind(target);
  const decoded = meterDecoder(
    createDecoder({ ...(options.schemas !== undefined && { schemas: options.schemas }), ...(onSchema !== undefined && { onSchema }) }),
  );
  const consumer = createConsumer({
    logger: false,
    signals: false,
    driver: tap.driver,
    groupId: options.groupId,
    topics: options.topics,
    from: "earliest",
    // A fault may come while the group is joined.
    startup: proxy === null ? "fail" : "wait",
    decoder: decoded.decoder,
    delivery: deliveryOf(tuning),
  });
  const meter = createHandledMeter(tuning);
  target.attach(consumer, tap, meter);
  const startedAtMs = performance.now();
  proxy?.begin();
  const running = consumer.run();
  const watch = watchCatchUp(options, consumer, meter, decoded);
  let outcome: CatchUpOutcome;
  try {
    outcome = await Promise.race([running.then(() => "interrupted" as const), watch.outcome]);
    if (outcome !== "caught-up") {
      meter.rate.breakOff(performance.now()); // a consumer that stands still is not as fast as it was before
    }
  } finally {
    watch.end();
    await consumer.stop();
  }
  await running;
  return summaryOf(outcome, startedAtMs, watch.waitedMs(), meter, tap, decoded);
}

interface Watch {
  readonly outcome: Promise<CatchUpOutcome>;
  waitedMs(): number;
  end(): void;
}

function watchCatchUp(
  { ends, interrupt, observer, expectedRecords, phase, maxDurationMs }: CatchUpOptions,
  consumer: Consumer,
  meter: HandledMeter,
  decoded: DecodeMeter,
): Watch {
  const startedAtMs = performance.now();
  let lookedAtMs = startedAtMs;
  let waitedMs = 0;
  let hasSaidWait = false;
  const { outcome, settle, fail } = openOutcome<CatchUpOutcome>();
  const look = (): void => {
    const now = performance.now();
    const health = consumer.health();
    const wait = health.phase === "running" || health.phase === "connecting" ? waitOf(health) : null;
    if (wait !== null) {
      waitedMs += now - lookedAtMs;
    }
    if (wait !== null && !hasSaidWait) {
      observer.note(`${phase}: the consumer waits: ${wait}`);
    } else if (wait === null && hasSaidWait) {
      observer.note(`${phase}: the consumer goes on`);
    }
    hasSaidWait = wait !== null;
    lookedAtMs = now;
    const { count, elapsedMs } = meter.rate;
    observer.observe(() => ({
      phase: wait === null ? phase : `${phase} (waiting)`,
      done: count,
      total: expectedRecords,
      unit: "events",
      ...(elapsedMs > 0 && { perSecond: (count / elapsedMs) * 1e3 }),
      lag: Math.max(0, expectedRecords - count),
    }));
    const absence = longAbsenceOf(decoded.registryAwayMs);
    if (interrupt.aborted) {
      settle("interrupted");
    } else if (isAtEnd(health, ends)) {
      settle("caught-up");
    } else if (now >= (meter.rate.startedAtMs ?? startedAtMs + firstEventWithinMs) + (maxDurationMs ?? Number.POSITIVE_INFINITY)) {
      settle("time-up");
    } else if (absence !== null) {
      fail(absence);
    }
  };
  const looking = setInterval(look, lookEveryMs);
  interrupt.addEventListener("abort", look);
  return {
    outcome,
    waitedMs: () => waitedMs,
    end: () => {
      clearInterval(looking);
      interrupt.removeEventListener("abort", look);
    },
  };
}

/** What the consumer has waited for, for some time. Null if it does not. */
function waitOf({ waits, reasons }: Health): string | null {
  const longest = waits.find(({ forMs }) => forMs >= sayWaitsAfterMs);
  return longest === undefined ? null : (reasons.find((reason) => reason.includes(longest.what)) ?? longest.what);
}

/** Everything below the ends is handled, whatever handled it. */
function isAtEnd({ assigned }: Health, ends: Places): boolean {
  const handledTo = new Map(assigned.map((held) => [`${held.topic}-${held.partition}`, held.handledTo]));
  for (const [topic, partitions] of ends) {
    for (const [partition, end] of partitions) {
      if ((handledTo.get(`${topic}-${partition}`) ?? -1n) < end) {
        return false;
      }
    }
  }
  return true;
}

function summaryOf(
  outcome: CatchUpOutcome,
  startedAtMs: number,
  waitedMs: number,
  meter: HandledMeter,
  tap: DriverTap,
  decoded: ReturnType<typeof meterDecoder>,
): CatchUpMeasure {
  const rate = meter.rate.summary();
  const { startedAtMs: firstAtMs } = meter.rate;
  const perMs = rate.elapsedMs > 0 ? 1 / rate.elapsedMs : 0;
  return {
    outcome,
    joinMs: tap.joinMs,
    firstEventMs: firstAtMs === null ? null : firstAtMs - startedAtMs,
    events: rate.count,
    records: decoded.records,
    bytes: decoded.bytes,
    rate,
    bytesPerSecond: decoded.bytes * perMs * 1e3,
    fetches: tap.batches,
    batches: meter.batches,
    calls: meter.calls,
    caps: meter.caps(),
    commits: tap.commits,
    transactions: tap.transactions,
    decodeShare: Math.min(1, decoded.decodeMs() * perMs),
    reconnects: tap.reconnects,
    waitedMs,
    firstOffsets: tap.firstOffsets,
    errors: decoded.errors(),
  };
}
