import type { CdcEvent } from "@cdckit/decode";
import type { FilterReason } from "../routing/router.ts";

/** What became of the events, since the start. */
export interface Counts {
  /** Records that were read, whether or not they are handled; tombstones among them. */
  readonly records: number;
  /** Events that the records were decoded to: a record may have none, or many. */
  readonly events: number;
  /** Events that a handler took, or that are `done()` in a stream. If there are only sinks: events that all sinks that take them have applied. */
  readonly handled: number;
  /** Events that no handler and no sink took, by reason. They are committed. */
  readonly filtered: Readonly<Record<FilterReason, number>>;
  /** Attempts that failed and were repeated. */
  readonly retries: number;
  /** Records that were written to the dead-letter topic. */
  readonly deadLettered: number;
  /** Offsets that were skipped because retention had deleted the records: `failure.lostRange`. */
  readonly lostOffsets: number;
  /** Partitions whose topic was deleted and created again, and that went on in the new topic: `failure.lostRange`. */
  readonly recreated: number;
  /** How often the driver has replaced connections on which nothing was answered. */
  readonly reconnects: number;
  /** Records that `failure.skip` names. They are committed without being read. */
  readonly skipped: number;
}

/** Counts as plain fields, because they are raised for every event. */
export class Counters {
  /** Raised when a record is read, by every dispatcher: it is the ordinal of the one that was read last, too. */
  records = 0;
  events = 0;
  handled = 0;
  retries = 0;
  deadLettered = 0;
  lostOffsets = 0;
  recreated = 0;
  reconnects = 0;
  skipped = 0;
  /** Records, and ends of batches, that everybody is done with whom they concern. Of the concurrent dispatcher: a sink's batch shows in no other count. */
  settled = 0;
  readonly filtered: Record<FilterReason, number> = {
    "table-without-handler": 0,
    "operation-without-handler": 0,
    "control-event-without-handler": 0,
  };

  /** Called with each event of no table that nothing takes. */
  onFiltered: (event: CdcEvent) => void = () => {};

  /** Called with each event of no table that no sink takes, and of the handlers only that of `*`. */
  onLeftToAny: (event: CdcEvent) => void = () => {};

  /** Nothing takes the event. */
  filter(event: CdcEvent, reason: FilterReason): void {
    this.filtered[reason]++;
    if (reason === "control-event-without-handler") {
      this.onFiltered(event);
    }
  }

  /** It grows whenever something is handled, set aside or read, and not while the same work fails again and again. */
  get progress(): number {
    return this.records + this.handled + this.deadLettered + this.settled;
  }

  snapshot(): Counts {
    const { records, events, handled, retries, deadLettered, lostOffsets, recreated, reconnects, skipped } = this;
    return { records, events, handled, filtered: { ...this.filtered }, retries, deadLettered, lostOffsets, recreated, reconnects, skipped };
  }
}
