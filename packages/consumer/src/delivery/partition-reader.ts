import type { CdcEvent, Decoder, RecordWalk } from "@cdckit/decode";
import type { Failure } from "../failure/failure.ts";
import type { RecordPlace } from "../failure/record-place.ts";
import type { Recovery } from "../failure/recovery.ts";
import { noTries, type Tries } from "../failure/retry-policy.ts";
import type { WorkInHand } from "../observe/waits.ts";
import { isThenable, toError } from "../user-code/user-value.ts";
import { InFlightRecord, type TakenBatch } from "./in-flight-record.ts";
import type { PartitionLife } from "./partition-life.ts";
import type { RecordFanOut } from "./record-fan-out.ts";
import type { SinkShares } from "./sink-stage.ts";
import type { TakenBatches } from "./taken-batches.ts";
import type { Turns } from "./turns.ts";

export interface PartitionReaderParts {
  readonly decoder: Decoder;
  readonly recovery: Recovery;
  readonly life: PartitionLife;
  readonly turns: Turns;
  readonly batches: TakenBatches;
  /** Takes what is read. */
  readonly fanOut: RecordFanOut;
  /** The reader waited, and may go on. */
  readonly pump: () => void;
  /** Halts the consumer. */
  readonly halt: (error: Error) => void;
}

/** Reads the records of one partition in order, and decodes each of them as often as that may help. */
export class PartitionReader {
  readonly #parts: PartitionReaderParts;
  #walk: RecordWalk | null = null;
  /** Of the record that is being decoded. Null while nothing failed. */
  #tries: Tries | null = null;
  /** `decoding` waits for a schema; `held` for the next attempt, or for a dead letter. */
  #state: "ready" | "decoding" | "held" = "ready";

  constructor(parts: PartitionReaderParts) {
    this.#parts = parts;
  }

  /** Something is read, or still to be read. */
  get isAtWork(): boolean {
    return this.#state !== "ready" || this.#parts.batches.head !== undefined;
  }

  *atWork(): Iterable<WorkInHand> {
    const taken = this.#parts.batches.head;
    if (this.#state === "decoding" && taken !== undefined) {
      yield this.#parts.recovery.workOn("decode", this.#placeIn(taken), null);
    }
  }

  /** Reads one record and hands it on, or ends a fetched batch. False if there is nothing to read now. */
  readNext(): boolean {
    const { batches, life, turns, halt } = this.#parts;
    const taken = batches.head;
    if (taken === undefined || this.#state !== "ready" || !life.isOpen) {
      return false;
    }
    this.#walk ??= taken.batch.walk();
    let hasRecord: boolean;
    try {
      hasRecord = this.#walk.next();
    } catch (error) {
      halt(toError(error));
      return false;
    }
    if (hasRecord) {
      batches.hasRead(taken);
      turns.hasRead(taken.batch);
      this.#decode(taken);
    } else {
      this.#endBatch(taken);
    }
    return true;
  }

  #endBatch(taken: TakenBatch): void {
    const { batches, fanOut } = this.#parts;
    batches.shiftHead();
    this.#walk = null;
    fanOut.endBatch(new InFlightRecord(taken, -1, taken.batch.nextOffset, 0, batches));
  }

  #decode(taken: TakenBatch): void {
    const walk = this.#walk as RecordWalk; // it stands at a record
    try {
      const decoded = this.#parts.decoder.decodeAt(walk);
      if (isThenable(decoded)) {
        this.#awaitEvents(taken, decoded);
      } else {
        this.#accept(taken, decoded);
      }
    } catch (error) {
      this.#failed(taken, error);
    }
  }

  /**
   * The later records wait: they need the same schema more often than not.
   *
   * The partition may be revoked or fenced while the schema is loaded. Its last commit may have been sent by then, so that a record that is
   * handed on now would be handled here and by the next owner.
   */
  #awaitEvents(taken: TakenBatch, decoding: Promise<readonly CdcEvent[]>): void {
    const goOn = (next: () => void): void => {
      this.#state = "ready";
      if (this.#parts.life.isOpen) {
        next();
        this.#parts.pump();
      }
    };
    this.#state = "decoding";
    decoding.then(
      (events) => goOn(() => this.#accept(taken, events)),
      (error: unknown) => goOn(() => this.#failed(taken, error)),
    );
  }

  #accept(taken: TakenBatch, events: readonly CdcEvent[]): void {
    const { fanOut, recovery } = this.#parts;
    let shares: SinkShares;
    try {
      shares = fanOut.sharesOf(events);
    } catch (error) {
      this.#failed(taken, error); // before the record is in flight: the ledger would wait for it for ever
      return;
    }
    if (this.#tries !== null) {
      recovery.recovered(this.#tries);
      this.#tries = null;
    }
    fanOut.handOn(this.#inFlight(taken), events, shares);
  }

  #failed(taken: TakenBatch, error: unknown): void {
    const { recovery, life, halt } = this.#parts;
    const failure: Failure = { stage: "decode", error, place: this.#placeIn(taken), event: null, sink: null, through: null };
    const tries = (this.#tries ??= noTries());
    recovery.recover({
      failure,
      tries,
      fence: life.fence,
      giveUp: () => {},
      retryAfter: (delayMs) => this.#decodeAfter(delayMs, taken),
      isolate: null,
      setAside: () => this.#setAside(taken, failure, tries),
      halt,
    });
  }

  #decodeAfter(delayMs: number, taken: TakenBatch): void {
    const { life, pump } = this.#parts;
    this.#state = "held";
    void life.fence.pause(delayMs).then(() => {
      this.#state = "ready";
      if (life.isOpen) {
        this.#decode(taken);
        pump();
      }
    });
  }

  #setAside(taken: TakenBatch, failure: Failure, tries: Tries): void {
    const record = this.#inFlight(taken);
    this.#tries = null;
    this.#state = "held";
    this.#parts.fanOut.setAside(record, { failure, tries }, () => {
      this.#state = "ready";
    });
  }

  /** The record that the walk stands at, in flight from here on. */
  #inFlight(taken: TakenBatch): InFlightRecord {
    const walk = this.#walk as RecordWalk; // it stands at a record
    const bytes = walk.keyEnd - walk.keyStart + walk.valueEnd - walk.valueStart;
    return new InFlightRecord(taken, walk.record, taken.batch.offsetAt(walk.record) + 1n, bytes, this.#parts.batches);
  }

  #placeIn({ batch, ordinal }: TakenBatch): RecordPlace {
    return { assignment: batch.assignment, batch, record: this.#walk?.record ?? 0, ordinal };
  }
}
