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
      sinceRecord: this.#sinceRecord.summary(),
      sinceSource: this.#sinceSource.summary(),
      connector: this.#connector.summary(),
      clockSkewEvents: this.#clockSkewEvents,
    };
  }
}

function record(histogram: DurationHistogram, ageMs: number): number {
  histogram.recordNs(ageMs * nsPerMs);
  return ageMs;
}
