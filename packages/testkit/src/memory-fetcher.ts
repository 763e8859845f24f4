import type { DriverSink, LostRange, PartitionAssignment } from "@cdckit/consumer";
import type { MemoryBroker } from "./memory-broker.ts";
import { lostRangeAt } from "./memory-error.ts";
import { RecordArrayBatch } from "./record-array-batch.ts";

/** Where a partition that is held is read next. */
export interface FetchPosition {
  readonly assignment: PartitionAssignment;
  /** Null until its start is known. */
  offset: bigint | null;
  /** The highest offset that was committed during this assignment; null before the first. */
  reached: bigint | null;
  /** Where it started, if the group had no commit of it then; null otherwise, and after a seek. */
  uncommittedStart: bigint | null;
  isPaused: boolean;
  /** A batch of it is being handed over. */
  isBusy: boolean;
}

export interface FetcherParts {
  readonly broker: MemoryBroker;
  readonly sink: DriverSink;
  readonly groupId: string;
  readonly positions: ReadonlyMap<PartitionAssignment, FetchPosition>;
  readonly maxBatchRecords: number;
  readonly partitionsConsumedConcurrently: number;
  readonly failed: (error: Error) => void;
  /** Called with a position that the log does not have. Answers the offset at which the partition goes on, or null if it must not. */
  readonly missed: (assignment: PartitionAssignment, lost: LostRange) => bigint | null;
}

/** How long a batch counts among those that are handed over side by side. One that takes longer holds up its own partition only. */
const patienceMs = 10;

/** Fetches from the partitions in turn, and hands the batches over. */
export class MemoryFetcher {
  readonly #parts: FetcherParts;
  #sleepers: (() => void)[] = [];
  #isStopped = false;
  /** Partitions are served in turn: the next look starts after the last one that had records. */
  #turn = 0;

  constructor(parts: FetcherParts) {
    this.#parts = parts;
  }

  /** Resolves when it was stopped. */
  async run(): Promise<void> {
    await Promise.all(Array.from({ length: this.#parts.partitionsConsumedConcurrently }, () => this.#work()));
  }

  stop(): void {
    this.#isStopped = true;
    this.wake();
  }

  wake(): void {
    const sleepers = this.#sleepers;
    this.#sleepers = [];
    for (const resolve of sleepers) {
      resolve();
    }
  }

  async #work(): Promise<void> {
    while (!this.#isStopped) {
      const position = this.#next();
      if (position === undefined) {
        await new Promise<void>((resolve) => this.#sleepers.push(resolve));
      } else {
        await this.#serve(position);
      }
    }
  }

  #next(): FetchPosition | undefined {
    const positions = [...this.#parts.positions.values()];
    for (let i = 0; i < positions.length; i++) {
      const at = (this.#turn + i) % positions.length;
      const position = positions[at];
      if (position !== undefined && this.#hasSomething(position)) {
        this.#turn = at + 1;
        return position;
      }
    }
    return undefined;
  }

  #hasSomething({ assignment: { topic, partition, topicId }, offset, isPaused, isBusy }: FetchPosition): boolean {
    if (isPaused || isBusy || offset === null || !this.#parts.broker.hasPartition(topic, partition)) {
      return false;
    }
    const { start, end, stableEnd } = this.#parts.broker.log(topic, partition);
    return offset < stableEnd || offset < start || offset > end || topicId !== this.#parts.broker.topicId(topic);
  }

  async #serve(position: FetchPosition): Promise<void> {
    const { topic, partition } = position.assignment;
    const suffer = this.#parts.broker.faults.meet({ operation: "fetch", groupId: this.#parts.groupId, topic, partition });
    position.isBusy = true;
    if (suffer !== null) {
      // Other partitions go on meanwhile.
      void this.#serveLater(position, suffer);
      return;
    }
    const handed = this.#handOver(position).then(() => {
      position.isBusy = false;
      this.wake();
    });
    await this.#settledOrLate(handed);
  }

  #settledOrLate(work: Promise<void>): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#parts.broker.clock.after(patienceMs, resolve);
      void work.then(() => {
        cancel();
        resolve();
      });
    });
  }

  async #serveLater(position: FetchPosition, suffer: () => Promise<boolean>): Promise<void> {
    try {
      await suffer();
    } catch (error) {
      this.#parts.failed(error as Error); // faults throw errors
    }
    position.isBusy = false;
    this.wake();
  }

  async #handOver(position: FetchPosition): Promise<void> {
    const { broker, sink, maxBatchRecords } = this.#parts;
    const { assignment, offset } = position;
    const { topic, partition, topicId } = assignment;
    const from = offset ?? 0n;
    const lost = lostRangeAt(broker, { topic, partition, offset: from, topicId });
    if (lost !== null) {
      position.offset = this.#parts.missed(assignment, lost);
      return;
    }
    const log = broker.log(topic, partition);
    const { records, nextOffset } = log.read(from, maxBatchRecords);
    position.offset = nextOffset;
    const batch = new RecordArrayBatch({ assignment, records, nextOffset, highWatermark: log.stableEnd });
    // A turn of the event loop between batches, as a fetch from a socket would give.
    await (sink.batch(batch) ?? broker.clock.yieldToEventLoop());
  }
}
