import type { CdcEvent } from "@cdckit/decode";
import type { Counters } from "../observe/counters.ts";
import type { Router } from "../routing/router.ts";
import type { InFlightRecord } from "./in-flight-record.ts";
import type { PartitionLife } from "./partition-life.ts";
import type { PartitionStages } from "./partition-stages.ts";
import type { PendingDeadLetter, RecordLanes } from "./record-lanes.ts";
import { refuseUnhandled, routeEvents } from "./route-events.ts";
import { countTaken } from "./sink-counts.ts";
import type { SinkShares } from "./sink-stage.ts";

export interface RecordFanOutParts {
  readonly router: Router;
  readonly counters: Counters;
  /** An event that nobody takes halts the consumer. */
  readonly strict: boolean;
  /** Some handlers are registered. Without any, records are the sinks' alone. */
  readonly hasHandlers: boolean;
  readonly life: PartitionLife;
  readonly lanes: RecordLanes;
  readonly stages: PartitionStages;
}

interface PostponedDeadLetter extends PendingDeadLetter {
  readonly record: InFlightRecord;
  /** Called when the dead letter is acknowledged. */
  readonly written: () => void;
}

/** Hands each record to everybody it concerns: the lane of its key, the batch handlers, and every sink. */
export class RecordFanOut {
  readonly #parts: RecordFanOutParts;
  #postponed: PostponedDeadLetter | null = null;

  constructor(parts: RecordFanOutParts) {
    this.#parts = parts;
  }

  /** What each sink takes of the events. Throws if an event cannot be asked, or if nobody takes it and `strict` is set. */
  sharesOf(events: readonly CdcEvent[]): SinkShares {
    const shares = this.#parts.stages.sharesOf(events);
    refuseUnhandled(this.#parts, events, shares);
    return shares;
  }

  handOn(record: InFlightRecord, events: readonly CdcEvent[], shares: SinkShares): void {
    const { stages, lanes, router, counters, hasHandlers } = this.#parts;
    stages.addToSinks(record, events, shares);
    if (!hasHandlers) {
      record.sinkEvents = countTaken(events, shares, counters);
      record.done();
      return;
    }
    // Whoever logs all events beside a sink would hide that the sink misses rows.
    for (const event of shares.length > 0 ? events : []) {
      if (router.isLeftToAny(event)) {
        counters.onLeftToAny(event);
      }
    }
    const { calls, batches } = routeEvents(events, router, counters);
    for (const [handle, own] of batches) {
      stages.addToHandler(handle, { record, events: own });
    }
    if (calls.length === 0) {
      record.done();
    } else {
      lanes.add(record, calls, null);
    }
  }

  /** Passes the end of a fetched batch on: control records and gaps of compaction there are passed with it. */
  endBatch(end: InFlightRecord): void {
    const { stages } = this.#parts;
    stages.addToSinks(end, [], []);
    stages.fetchEnded();
    end.done();
  }

  /**
   * Sets a record aside that did not decode. `written` is called when later records may be read.
   *
   * With handlers alone, the record takes its turn in its lane, and reading goes on at once. Batch handlers and sinks have no lanes. Without
   * a wait for them this could happen: offset 5 is collected for a sink, 6 does not decode, its dead letter is written, 7 reaches the sink
   * with 5, and the sink's checkpoint moves past 6 before the dead letter is acknowledged; or 7, of the same key as 6, overtakes it. So the
   * stages handle what came before, then the dead letter is written, and only then is the next record read.
   */
  setAside(record: InFlightRecord, pending: PendingDeadLetter, written: () => void): void {
    const { stages, lanes } = this.#parts;
    if (!stages.areAttached) {
      lanes.add(record, [], pending);
      written();
      return;
    }
    this.#postponed = { ...pending, record, written };
    stages.flush();
    this.setAsidePostponed();
  }

  /** Writes the dead letter that waits, if the stages have handled what came before it. */
  setAsidePostponed(): void {
    const { life, lanes, stages } = this.#parts;
    const postponed = this.#postponed;
    if (postponed === null || life.isFenced || !stages.isEmpty) {
      return;
    }
    const { record, failure, tries, written } = postponed;
    this.#postponed = null;
    life.handles(record.offset);
    lanes.setAside(failure, tries, () => {
      written();
      stages.addToSinks(record, [], []);
      record.done();
      if (!life.isOpen) {
        stages.flush(); // the end of the fetched batch will not come any more, and the sinks' checkpoints must move past the record
      }
    });
  }

  /** A dead letter that still waits is not written: its record comes again. */
  finish(): void {
    this.#postponed = null;
  }
}
