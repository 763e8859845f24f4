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
  /** Events whose record has no timestamp (-1 or 0), so that nobody knows its age. Absent in results of older versions. */
  readonly eventsWithoutTimestamp?: number;
}

export class LatencyMeter {
  readonly #sinceRecord = new DurationHistogram();
  readonly #sinceSource = new DurationHistogram();
  readonly #connector = new DurationHistogram();
  #clockSkewEvents = 0;
  #eventsWithoutTimestamp = 0;

  add(event: CdcEvent): void {
    const nowMs = Date.now();
    const recordMs = Number(event.record.timestamp);
    let minMs = 0;
    if (isKnown(recordMs)) {
      minMs = record(this.#sinceRecord, nowMs - recordMs);
    } else {
      this.#eventsWithoutTimestamp++;
    }
    if (event.kind === "change" && isKnown(event.source.tsMs)) {
      minMs = Math.min(minMs, record(this.#sinceSource, nowMs - event.source.tsMs));
      if (isKnown(event.tsMs)) {
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
      eventsWithoutTimestamp: this.#eventsWithoutTimestamp,
    };
  }
}

/** Kafka writes -1 for a record without a timestamp, some producers 0, and some connectors 0 for a commit whose time they do not know. */
function isKnown(timestampMs: number | null): timestampMs is number {
  return timestampMs !== null && timestampMs > 0;
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
