import type { CdcEvent } from "@cdckit/decode";
import type { PartitionAssignment } from "../driver.ts";
import type { WorkInHand } from "../observe/waits.ts";
import { LeftOutChoice } from "../routing/sink-selection.ts";
import type { Sink } from "../sink.ts";
import { readMember } from "../user-code/user-value.ts";
import { BatchStage, type BatchStageParts } from "./batch-stage.ts";
import { eventsOf, type InFlightRecord } from "./in-flight-record.ts";

/** A sink of the consumer, and what it takes. */
export interface AttachedSink {
  readonly sink: Sink;
  /** Throws if an event cannot be asked. */
  readonly takes: (event: CdcEvent) => boolean;
  /** Whether the sink takes the event's own table. Null if it is given nothing but what it takes. */
  readonly matches: ((event: CdcEvent) => boolean) | null;
  readonly limits: BatchStageParts["limits"];
}

export interface SinkStageParts extends Omit<BatchStageParts, "limits" | "apply" | "sink" | "handles"> {
  readonly attached: AttachedSink;
  readonly assignment: PartitionAssignment;
  /** The sink's checkpoint when the partition was claimed: everything below it is applied. Null if it has none. */
  readonly checkpoint: bigint | null;
  /** There are handlers, too. While the partition finishes, the sink must apply what they have handled, or they would see it again. */
  readonly finishes: boolean;
  /** Another member has claimed the partition. */
  readonly fenced: (sink: Sink) => void;
}

/** The events that each sink takes of a record, in the order of the sinks. */
export type SinkShares = readonly (readonly CdcEvent[])[];

const noneLeftOut: ReadonlySet<CdcEvent> = new Set();

/** Of the events, in their order, those that are taken and those that are given nonetheless. A record may hold a transaction of thousands. */
function withLeftOut(events: readonly CdcEvent[], taken: readonly CdcEvent[], leftOut: LeftOutChoice): readonly CdcEvent[] {
  let next = 0; // what is taken has the order of the events
  return events.filter((event) => {
    const isTaken = event === taken[next];
    next += isTaken ? 1 : 0;
    return isTaken || leftOut.includes(event);
  });
}

/** Takes one partition's events to one sink, at the sink's own pace. */
export class SinkStage {
  readonly #parts: SinkStageParts;
  readonly #stage: BatchStage;
  readonly #leftOut: LeftOutChoice | null;
  /** The highest offset of a record that this sink has set aside. Without its checkpoint past it, the dead letter would be written again. */
  #setAsideAt = -1n;
  /** While the partition finishes: what handlers have handled up to. */
  #ceiling: bigint | null = null;

  constructor(parts: SinkStageParts) {
    this.#parts = parts;
    this.#leftOut = parts.attached.matches === null ? null : new LeftOutChoice();
    this.#stage = new BatchStage({
      ...parts,
      limits: parts.attached.limits,
      sink: parts.attached.sink.name,
      handles: (offset) => this.#setAside(offset),
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

  /** Which of the events the sink takes. Throws if one cannot be asked: a part of it is read late, and does not decode. */
  taken(events: readonly CdcEvent[]): readonly CdcEvent[] {
    return events.filter(this.#parts.attached.takes);
  }

  /** Collects what the sink takes of the record's events. The checkpoint moves past the record even if that is nothing. */
  add(record: InFlightRecord, events: readonly CdcEvent[], taken: readonly CdcEvent[]): void {
    const { checkpoint } = this.#parts;
    if (checkpoint !== null && record.next <= checkpoint) {
      return;
    }
    record.share();
    this.#stage.add({ record, events: this.#leftOut === null ? taken : withLeftOut(events, taken, this.#leftOut) });
  }

  fetchEnded(): void {
    this.#stage.fetchEnded();
  }

  flush(): void {
    this.#stage.flush();
  }

  /**
   * Hands on what handlers would otherwise see again. Without handlers nothing but what is set aside: what else is not applied comes again to the
   * sink alone.
   */
  finish(ceiling: bigint): void {
    this.#ceiling = this.#parts.finishes ? ceiling : -1n;
    this.#stage.finish(this.#ceiling > this.#setAsideAt ? this.#ceiling : this.#setAsideAt);
  }

  close(): void {
    this.#stage.close();
  }

  /** Handlers may be far below it: a stop does not wait until they have come there. */
  #setAside(offset: bigint): void {
    this.#setAsideAt = offset > this.#setAsideAt ? offset : this.#setAsideAt;
    if (this.#ceiling !== null) {
      this.finish(this.#ceiling);
    }
  }

  async #apply(events: readonly CdcEvent[], nextOffset: bigint): Promise<void> {
    const { attached, assignment, fenced } = this.#parts;
    const { sink, matches } = attached;
    const leftOut = matches === null ? noneLeftOut : new Set(events.filter((event) => !matches(event)));
    try {
      await sink.apply({ assignment, events, leftOut, nextOffset });
    } catch (error) {
      if (readMember(error, "code") === "fenced") {
        fenced(sink);
      }
      throw error;
    }
  }
}
