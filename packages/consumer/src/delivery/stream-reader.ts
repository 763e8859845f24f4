import type { CdcEvent, Decoder, RecordWalk } from "@cdckit/decode";
import type { FetchedBatch } from "../driver.ts";
import type { Failure } from "../failure/failure.ts";
import type { RecordPlace } from "../failure/record-place.ts";
import type { Recovery } from "../failure/recovery.ts";
import { noTries, type Tries } from "../failure/retry-policy.ts";
import type { Counters } from "../observe/counters.ts";
import type { WorkInHand } from "../observe/waits.ts";
import { isThenable } from "../user-code/user-value.ts";
import type { Fence } from "./fence.ts";
import type { OffsetLedger, OffsetSpan } from "./offset-ledger.ts";
import type { Turns } from "./turns.ts";

/** A batch of a stream that is in memory: events of it are still to be handed out, or are not done. */
export interface StreamBatch {
  readonly batch: FetchedBatch;
  readonly walk: RecordWalk;
  readonly ledger: OffsetLedger;
  /** Handed out and not done. */
  outstanding: number;
  /** A dead letter of it is being written. */
  isWriting: boolean;
  /** Closed when nothing more of it is to be handed out. */
  readonly fence: Fence;
  /** More of it is to be handed out. */
  queued: boolean;
}

/** A record is settled when every event of it is done, and so is every event that is not handed out yet. */
export interface StreamRecord {
  readonly taken: StreamBatch;
  readonly span: OffsetSpan;
  readonly next: bigint;
  open: number;
}

export interface StreamReaderParts {
  readonly decoder: Decoder;
  readonly counters: Counters;
  readonly recovery: Recovery;
  readonly turns: Turns;
  /** All records of the batch were read. */
  readonly ended: (taken: StreamBatch) => void;
  /** A dead letter of the batch is written, or given up: nobody waits for it any more. */
  readonly released: (taken: StreamBatch) => void;
}

/** Reads the records of a stream one by one, decodes each as often as that may help, and keeps its events until they are handed out. */
export class StreamReader {
  readonly #parts: StreamReaderParts;
  #record: StreamRecord | null = null;
  #events: readonly CdcEvent[] = [];
  #nextEvent = 0;
  #decoding: Promise<readonly CdcEvent[]> | null = null;
  /** A schema is awaited. */
  #isWaiting = false;

  constructor(parts: StreamReaderParts) {
    this.#parts = parts;
  }

  *atWork(): Iterable<WorkInHand> {
    if (this.#isWaiting && this.#record !== null) {
      yield this.#parts.recovery.workOn("decode", this.#placeIn(this.#record.taken), null);
    }
  }

  /** The next event of the batch and its record. Null if another record must be read first. */
  takeEvent(taken: StreamBatch): { readonly event: CdcEvent; readonly record: StreamRecord } | null {
    const record = this.#record;
    if (record?.taken !== taken || this.#nextEvent === this.#events.length) {
      return null;
    }
    const event = this.#events[this.#nextEvent++] as CdcEvent; // within bounds
    return { event, record };
  }

  /** Decodes the next record of the batch, or ends the batch. Rejects with what halts the consumer. */
  async readNext(taken: StreamBatch): Promise<void> {
    const { counters, turns, recovery, ended } = this.#parts;
    this.#events = [];
    this.#nextEvent = 0;
    if (!taken.walk.next()) {
      const { nextOffset } = taken.batch;
      if (this.#record?.taken !== taken || this.#record.next < nextOffset) {
        taken.ledger.settle(taken.ledger.take(), nextOffset); // control records, and gaps of compaction, at the end of the batch
      }
      ended(taken);
      return;
    }
    counters.records++;
    turns.hasRead(taken.batch);
    const next = taken.batch.offsetAt(taken.walk.record) + 1n;
    const record: StreamRecord = { taken, span: taken.ledger.take(), next, open: 0 };
    this.#record = record;
    const behind = recovery.hasParkedKeys ? recovery.parkedBehind(this.#placeIn(taken)) : undefined;
    if (behind !== undefined) {
      await this.#untilWritten(record, recovery.park(this.#placeIn(taken), behind, taken.fence));
      return;
    }
    let events = this.#decodeAtOnce(taken);
    events ??= await this.#decodeInTime(record);
    if (events === null) {
      return;
    }
    this.#events = events;
    record.open = events.length;
    counters.events += events.length;
    if (events.length === 0) {
      taken.ledger.settle(record.span, next);
    }
  }

  /** The record's events, if they are known at once. */
  #decodeAtOnce(taken: StreamBatch): readonly CdcEvent[] | null {
    this.#decoding = null;
    try {
      const decoded = this.#parts.decoder.decodeAt(taken.walk);
      if (!isThenable(decoded)) {
        return decoded;
      }
      this.#decoding = decoded;
    } catch (error) {
      this.#decoding = Promise.reject(error as Error);
    }
    this.#decoding.catch(ignore); // looked at later, or not at all if the partition is gone by then
    return null;
  }

  /**
   * The record's events, attempted again while that can help. None for a record that was set aside. Null if the record is not to be handed
   * out any more: nobody at the other end may wait for a registry that is slow or down. Rejects with what halts the consumer.
   */
  async #decodeInTime(record: StreamRecord): Promise<readonly CdcEvent[] | null> {
    const { fence } = record.taken;
    const tries: Tries = noTries();
    while (!fence.isClosed) {
      let events: readonly CdcEvent[] | null = null;
      try {
        const decoding = (this.#decoding ?? Promise.resolve([])).then((known) => {
          events = known;
        });
        this.#isWaiting = true;
        await fence.orClosed(decoding).finally(() => {
          this.#isWaiting = false;
        });
        if (tries.wait !== null) {
          this.#parts.recovery.recovered(tries);
        }
        return events;
      } catch (error) {
        const outcome = await this.#recover(record, error, tries);
        if (outcome !== "decode again") {
          return outcome;
        }
      }
    }
    return null;
  }

  #recover(record: StreamRecord, error: unknown, tries: Tries): Promise<readonly CdcEvent[] | null | "decode again"> {
    const { recovery } = this.#parts;
    const { taken } = record;
    const failure: Failure = { stage: "decode", error, place: this.#placeIn(taken), event: null, sink: null, through: null };
    return recovery.recover<Promise<readonly CdcEvent[] | null | "decode again">>({
      failure,
      tries,
      fence: taken.fence,
      giveUp: async () => null,
      retryAfter: async (delayMs) => {
        await taken.fence.pause(delayMs);
        const known = this.#decodeAtOnce(taken);
        this.#decoding ??= Promise.resolve(known ?? []);
        return "decode again";
      },
      isolate: null,
      setAside: () => this.#untilWritten(record, recovery.setAside(failure, tries, taken.fence)),
      halt: (fatal) => Promise.reject(fatal),
    });
  }

  /**
   * A drain waits for the dead letter as it waits for what is handed out. Otherwise the next owner would write it again. The loop does not: it
   * must end if the brokers never answer.
   */
  async #untilWritten({ taken, span, next }: StreamRecord, writing: Promise<boolean>): Promise<null> {
    taken.isWriting = true;
    const written = writing
      .then((isWritten) => {
        if (isWritten) {
          taken.ledger.settle(span, next);
        }
      })
      .finally(() => {
        taken.isWriting = false;
        this.#parts.released(taken);
      });
    await taken.fence.orClosed(written);
    return null;
  }

  /** The record that is being read. */
  #placeIn({ batch, walk }: StreamBatch): RecordPlace {
    return { assignment: batch.assignment, batch, record: walk.record, ordinal: this.#parts.counters.records };
  }
}

function ignore(): void {}
