import type { CdcEvent } from "@cdckit/decode";
import { performance } from "node:perf_hooks";
import { DurationHistogram, type DurationSummary } from "../../measure/duration-histogram.ts";
import { RateSeries } from "../../measure/rate-series.ts";
import { type CapCounts, CapTally } from "./cap-tally.ts";
import type { Tuning } from "./tuning.ts";

/** What a target counts while it handles events. */
export interface HandledMeter {
  readonly rate: RateSeries;
  /** Calls of the handler or the sink that were given events together. */
  readonly batches: number;
  /** How long each of these calls took. */
  readonly calls: DurationSummary;
  /** Which cap closed batches. Null if there are no caps. */
  caps(): CapCounts | null;
  /** An event was handled by itself. */
  one(): void;
  /** Looks at which cap closed a batch that is about to be handled. */
  judge(partition: string, events: readonly CdcEvent[]): void;
  /** So many events were handled together, between these times of `performance.now()`. */
  applied(events: number, startedAtMs: number, endedAtMs: number): void;
  /** Handles events together, and counts them when that has ended. */
  together(partition: string, events: readonly CdcEvent[], handle: () => Promise<void> | void): Promise<void>;
}

export function createHandledMeter({ batchEvents, batchBytes, batchMs }: Tuning): HandledMeter {
  const isCapped = batchEvents !== null || batchBytes !== null || batchMs !== null;
  return new Meter(isCapped ? new CapTally({ maxEvents: batchEvents, maxBytes: batchBytes }) : null);
}

class Meter implements HandledMeter {
  readonly rate = new RateSeries();
  readonly #calls = new DurationHistogram();
  readonly #caps: CapTally | null;
  batches = 0;

  constructor(caps: CapTally | null) {
    this.#caps = caps;
  }

  get calls(): DurationSummary {
    return this.#calls.summary();
  }

  caps(): CapCounts | null {
    return this.#caps?.counts() ?? null;
  }

  one(): void {
    this.rate.add(1, performance.now());
  }

  async together(partition: string, events: readonly CdcEvent[], handle: () => Promise<void> | void): Promise<void> {
    if (events.length === 0) {
      await handle(); // only a checkpoint moves
      return;
    }
    const startedAtMs = performance.now();
    this.rate.start(startedAtMs);
    this.judge(partition, events);
    await handle();
    this.applied(events.length, startedAtMs, performance.now());
  }

  applied(events: number, startedAtMs: number, endedAtMs: number): void {
    this.batches++;
    this.#calls.recordNs((endedAtMs - startedAtMs) * 1e6);
    this.rate.start(startedAtMs);
    this.rate.add(events, endedAtMs);
  }

  judge(partition: string, events: readonly CdcEvent[]): void {
    if (this.#caps !== null) {
      this.#judge(this.#caps, partition, events);
    }
  }

  /** Events of one record are neighbours, and its bytes count once. */
  #judge(caps: CapTally, partition: string, events: readonly CdcEvent[]): void {
    let bytes = 0;
    let first: { events: number; bytes: number } | null = null;
    let last: CdcEvent["record"] | null = null;
    let isFirst = true;
    for (const { record } of events) {
      if (last !== null && record.offset === last.offset) {
        if (isFirst && first !== null) {
          first.events++;
        }
        continue;
      }
      isFirst = last === null;
      last = record;
      const recordBytes = (record.key?.length ?? 0) + (record.value?.length ?? 0);
      bytes += recordBytes;
      first ??= { events: 1, bytes: recordBytes };
    }
    caps.add(partition, { events: events.length, bytes }, first ?? { events: 0, bytes: 0 });
  }
}
