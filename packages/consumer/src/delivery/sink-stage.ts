import type { CdcEvent } from "@cdckit/decode";
import type { PartitionAssignment } from "../driver.ts";
import type { WorkInHand } from "../observe/waits.ts";
import type { Sink } from "../sink.ts";
import { readMember } from "../user-code/user-value.ts";
import { BatchStage, type BatchStageParts } from "./batch-stage.ts";
import { eventsOf, type InFlightRecord } from "./in-flight-record.ts";

/** A sink of the consumer, and what it takes. */
export interface AttachedSink {
  readonly sink: Sink;
  readonly takes: (event: CdcEvent) => boolean;
  readonly limits: BatchStageParts["limits"];
}

export interface SinkStageParts extends Omit<BatchStageParts, "limits" | "apply" | "sink"> {
  readonly attached: AttachedSink;
  readonly assignment: PartitionAssignment;
  /** The sink's checkpoint when the partition was claimed: what lies below is applied. Null where it has none. */
  readonly checkpoint: bigint | null;
  /** At an end, handlers must not see again what only the sink has not done. */
  readonly finishes: boolean;
  /** Another member has claimed the partition. */
  readonly fenced: (sink: Sink) => void;
}

/** What of a record's events each of the sinks takes, in their order. */
export type SinkShares = readonly (readonly CdcEvent[])[];

const noShares: SinkShares = [];
const noEvents: readonly CdcEvent[] = [];

/** Throws where an event cannot be asked: a part of it is read late, and does not decode. */
export function sharesOf(sinks: readonly SinkStage[], events: readonly CdcEvent[]): SinkShares {
  return sinks.length === 0 ? noShares : sinks.map((sink) => sink.taken(events));
}

/** Hands each of the sinks its share; those without one get the record without events. */
export function shareWith(sinks: readonly SinkStage[], record: InFlightRecord, shares: SinkShares): void {
  for (let i = 0; i < sinks.length; i++) {
    sinks[i]?.add(record, shares[i] ?? noEvents);
  }
}

/** The way of one partition's events to one sink, at the sink's own pace. */
export class SinkStage {
  readonly #parts: SinkStageParts;
  readonly #stage: BatchStage;

  constructor(parts: SinkStageParts) {
    this.#parts = parts;
    this.#stage = new BatchStage({
      ...parts,
      limits: parts.attached.limits,
      sink: parts.attached.sink.name,
      apply: (entries) => this.#apply(eventsOf(entries), entries.at(-1)?.record.next ?? 0n),
    });
  }

  get isBusy(): boolean {
    return this.#stage.isBusy;
  }

  get isEmpty(): boolean {
    return this.#stage.isEmpty;
  }

  atWork(): Iterable<WorkInHand> {
    return this.#stage.atWork();
  }

  /** Which of the events the sink takes. Throws as {@link sharesOf} does. */
  taken(events: readonly CdcEvent[]): readonly CdcEvent[] {
    return events.filter(this.#parts.attached.takes);
  }

  /** Hands on what the sink takes. Its checkpoint moves past the record also where that is nothing. */
  add(record: InFlightRecord, taken: readonly CdcEvent[]): void {
    const { checkpoint } = this.#parts;
    if (checkpoint !== null && record.next <= checkpoint) {
      return;
    }
    record.share();
    this.#stage.add({ record, events: taken });
  }

  fetchEnded(): void {
    this.#stage.fetchEnded();
  }

  flush(): void {
    this.#stage.flush();
  }

  /** What it has not applied comes again to the sink alone, and to handlers only where there are any. */
  finish(ceiling: bigint): void {
    this.#stage.finish(this.#parts.finishes ? ceiling : -1n);
  }

  close(): void {
    this.#stage.close();
  }

  async #apply(events: readonly CdcEvent[], nextOffset: bigint): Promise<void> {
    const { attached, assignment, fenced } = this.#parts;
    try {
      await attached.sink.apply({ assignment, events, nextOffset });
    } catch (error) {
      if (readMember(error, "code") === "fenced") {
        fenced(attached.sink);
      }
      throw error;
    }
  }
}
