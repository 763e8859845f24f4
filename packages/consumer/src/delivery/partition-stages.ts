import type { CdcEvent } from "@cdckit/decode";
import type { WorkInHand } from "../observe/waits.ts";
import type { BatchStage } from "./batch-stage.ts";
import type { BatchEntry, InFlightRecord } from "./in-flight-record.ts";
import type { BatchHandler } from "./route-events.ts";
import type { SinkShares, SinkStage } from "./sink-stage.ts";

export interface PartitionStagesParts {
  readonly sinks: readonly SinkStage[];
  /** Some handler takes its events in batches. */
  readonly hasBatchHandlers: boolean;
  /** The stage of a batch handler. */
  readonly stageOf: (handle: BatchHandler) => BatchStage;
}

const noShares: SinkShares = [];
const noEvents: readonly CdcEvent[] = [];

/** The batch handlers and sinks of one partition. Each has a stage of its own, and goes at its own pace. */
export class PartitionStages {
  readonly #parts: PartitionStagesParts;
  readonly #handlers = new Map<BatchHandler, BatchStage>();

  constructor(parts: PartitionStagesParts) {
    this.#parts = parts;
  }

  get hasSinks(): boolean {
    return this.#parts.sinks.length > 0;
  }

  /** There is a batch handler or a sink. Its stage may not exist before its first event. */
  get areAttached(): boolean {
    return this.hasSinks || this.#parts.hasBatchHandlers;
  }

  /** Some batch is being handled. */
  get isBusy(): boolean {
    return this.#all().some(({ isBusy }) => isBusy);
  }

  /** The highest offset of a record that a batch handler has in hand. It is below all offsets if none has any. Sinks have checkpoints. */
  get inHandUpTo(): bigint {
    let upTo = -1n;
    for (const { inHandUpTo } of this.#handlers.values()) {
      upTo = inHandUpTo > upTo ? inHandUpTo : upTo;
    }
    return upTo;
  }

  /** Everything that was added is handled, or may come again. */
  get isEmpty(): boolean {
    return this.#all().every(({ isEmpty }) => isEmpty);
  }

  *atWork(): Iterable<WorkInHand> {
    for (const stage of this.#all()) {
      yield* stage.atWork();
    }
  }

  /** What each sink takes of the events. Throws if an event cannot be asked: a part of it is read late, and does not decode. */
  sharesOf(events: readonly CdcEvent[]): SinkShares {
    return this.hasSinks ? this.#parts.sinks.map((sink) => sink.taken(events)) : noShares;
  }

  /** Gives the record to each sink. A sink's checkpoint moves past the record even if the sink takes no event of it. */
  addToSinks(record: InFlightRecord, events: readonly CdcEvent[], shares: SinkShares): void {
    const { sinks } = this.#parts;
    for (let i = 0; i < sinks.length; i++) {
      sinks[i]?.add(record, events, shares[i] ?? noEvents);
    }
  }

  addToHandler(handle: BatchHandler, entry: BatchEntry): void {
    let stage = this.#handlers.get(handle);
    if (stage === undefined) {
      stage = this.#parts.stageOf(handle);
      this.#handlers.set(handle, stage);
    }
    entry.record.share();
    stage.add(entry);
  }

  /** A fetched batch has ended. */
  fetchEnded(): void {
    for (const stage of this.#all()) {
      stage.fetchEnded();
    }
  }

  /** Hands on what is collected: nothing more may come before that is handled. */
  flush(): void {
    for (const stage of this.#all()) {
      stage.flush();
    }
  }

  /** Hands on what is collected up to this offset, and nothing above it. It may be called again, with a lower offset. */
  finish(upTo: bigint): void {
    for (const stage of this.#all()) {
      stage.finish(upTo);
    }
  }

  close(): void {
    for (const stage of this.#all()) {
      stage.close();
    }
  }

  #all(): readonly (BatchStage | SinkStage)[] {
    return [...this.#handlers.values(), ...this.#parts.sinks];
  }
}
