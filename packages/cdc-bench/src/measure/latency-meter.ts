import type { CdcEvent } from "@cdckit/decode";
import { DurationHistogram, type DurationSummary } from "./duration-histogram.ts";

const nsPerMs = 1e6;

/** How old events are when they are handled. Only a live stream has an age that means something. */
export interface LatencySummary {
  /** From the record's timestamp in Kafka until it was handled. */
  readonly sinceRecord: DurationSummary;
  /** From the commit in the source until it was handled, if the event says when it was committed. */
  readonly sinceSource: DurationSummary;
  /** Debezium's own part: from the commit in the source until the connector had processed it. */
  readonly connector: DurationSummary;
  /** Events with an age that came out negative: the clocks of the machines differ. */
  readonly clockSkewEvents: number;
}

export class LatencyMeter {
  readonly #sinceRecord = new DurationHistogram();
  readonly #sinceSource = new DurationHistogram();
  readonly #connector = new DurationHistogram();
  #clockSkewEvents = 0;

  add(event: CdcEvent): void {
    const nowMs = Date.now();
    let minMs = record(this.#sinceRecord, nowMs - Number(event.record.timestamp));
    if (event.kind === "change" && event.source.tsMs !== null) {
      minMs = Math.min(minMs, record(this.#sinceSource, nowMs - event.source.tsMs));
      if (event.tsMs !== null) {
        minMs = Math.min(minMs, record(this.#connector, event.tsMs - event.source.tsMs));
      }
    }
    if (minMs < 0) {
      this.#clockSkewEvents++;
    }
  }

  summary(): LatencySummary {
    return {
      sinceRecord: inWholeMs(this.#sinceRecord.summary()),
      sinceSource: inWholeMs(this.#sinceSource.summary()),
      connector: inWholeMs(this.#connector.summary()),
      clockSkewEvents: this.#clockSkewEvents,
    };
  }
}

function record(histogram: DurationHistogram, ageMs: number): number {
  histogram.recordNs(ageMs * nsPerMs);
  return ageMs;
}

/** Ages are differences of timestamps, which have whole milliseconds. A histogram has the end of the range that a duration falls into. */
function inWholeMs({ p50Ns, p95Ns, p99Ns, maxNs, ...others }: DurationSummary): DurationSummary {
  const whole = (ns: number): number => Math.round(ns / nsPerMs) * nsPerMs;
  return { ...others, p50Ns: whole(p50Ns), p95Ns: whole(p95Ns), p99Ns: whole(p99Ns), maxNs: whole(maxNs) };
}
