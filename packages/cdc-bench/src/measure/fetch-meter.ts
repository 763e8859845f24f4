import type {
  DriverSession,
  DriverSink,
  FetchedBatch,
  KafkaDriver,
  OffsetCommit,
  PartitionAssignment,
  Subscription,
} from "@cdckit/consumer";
import type { RecordWalk } from "@cdckit/decode";
import { performance } from "node:perf_hooks";
import { type DriverWait, DriverWaits } from "./driver-waits.ts";
import { ReadPositions } from "./read-positions.ts";
import type { ReadingLoad } from "./process-load.ts";

/** Where a reading ends. Absent: nowhere. */
export interface ReadingEnd {
  readonly maxRecords?: number;
  /** By partition: the offset that is not read any more. A partition that is not named is not read at all. */
  readonly endOffsets?: ReadonlyMap<number, bigint>;
  /** By partition: where its log starts. A partition that is not named starts at 0. */
  readonly startOffsets?: ReadonlyMap<number, bigint>;
}

/**
 * So many offsets at the end of a partition may be transaction markers of which a client tells nothing. More that nobody has seen are taken for records.
 */
const maxUnseenMarkers = 4n;

/** Offsets in front of the ends that nothing has come of, of partitions in which they are more than transaction markers. */
export function unreadOf<Place>(ends: ReadonlyMap<Place, bigint>, reached: ReadonlyMap<Place, bigint>): number {
  const gaps = [...ends].map(([place, end]) => end - (reached.get(place) ?? 0n));
  return Number(gaps.filter((gap) => gap > maxUnseenMarkers).reduce((all, gap) => all + gap, 0n));
}

/** A driver that times the batches which pass through it, ends at a given place, and commits only if it is asked to. */
export interface FetchMeter {
  readonly driver: KafkaDriver;
  /** Resolves when everything up to the end was handed over. */
  readonly ended: Promise<void>;
  /** It ended after as many records as were asked for, in front of the end of its topics. */
  readonly isLimited: boolean;
  /** From `connect` to the first assignment; 0 before that. */
  readonly joinMs: number;
  /** How long ago the first assignment was; null before it. */
  readonly sinceJoinMs: number | null;
  /** Time after the join in which the consumer had nothing to do. */
  readonly waitMs: number;
  /** Of that, the time in which batches were decompressed. */
  readonly decompressedWaitingMs: number;
  /** The time in which batches were decompressed while the consumer had something to do: those of another partition. */
  readonly decompressedBusyMs: number;
  /** From the first assignment to the first batch: looking up positions, and the first fetch. */
  readonly firstBatchMs: number;
  /** From the first assignment to the last batch taken, or to where the reading was broken off. */
  readonly readingMs: number;
  readonly batches: number;
  /** Time in which a commit was under way; commits that overlap count one by one. */
  readonly commitMs: number;
  /** How long nothing has come for; 0 before the first assignment. */
  readonly idleMs: number;
  /** As {@link unreadOf} has it; 0 without an end. */
  readonly unread: number;
  /** What the driver has waited for, for a second or more. Null if it does not wait. */
  readonly waitsFor: DriverWait | null;
  /** Partitions were taken away, by a rebalance or by the end of the session. */
  readonly wasRebalanced: boolean;
  /**
   * The reading ends here, in front of its end: what passed since the last batch counts, too, as waiting. Without it, a stream that gave ten records in
   * its first second and none for a minute would have given ten a second.
   */
  breakOff(): void;
}

export interface MeterOptions {
  /**
   * Whether the group's offsets are committed.
   * @default false: a measurement leaves no trace in the group
   */
  readonly commits?: boolean;
  /** Told of each batch. */
  readonly load?: ReadingLoad | undefined;
  /**
   * A counter of the time that decompressing has taken in this process.
   * @default it stays at 0
   */
  readonly decompressedMs?: (() => number) | undefined;
}

export function meterDriver(inner: KafkaDriver, end: ReadingEnd, options: MeterOptions = {}): FetchMeter {
  return new Meter(inner, end, options);
}

class Meter implements FetchMeter {
  readonly driver: KafkaDriver;
  readonly ended: Promise<void>;
  waitMs = 0;
  decompressedWaitingMs = 0;
  decompressedBusyMs = 0;
  batches = 0;
  commitMs = 0;
  wasRebalanced = false;
  readonly #commits: boolean;
  readonly #load: ReadingLoad | undefined;
  readonly #decompressedMs: () => number;
  readonly #positions = new ReadPositions();
  readonly #waits = new DriverWaits();
  /** What was taken away. A batch of these that is let go of need not have been read: where the next assignment starts says how far it was. */
  readonly #taken = new WeakSet<PartitionAssignment>();
  readonly #pending: Map<number, bigint> | undefined;
  /** The offset after the last that has come; before that, where the log starts. */
  readonly #reached: Map<number, bigint>;
  #connectedAtMs = 0;
  #joinedAtMs = 0;
  #idleSinceMs = 0;
  /** What the counter said when the consumer last got something to do, or had done it. */
  #lastDecompressedMs = 0;
  #firstBatchAtMs = 0;
  #lastBatchAtMs = 0;
  #busy = 0;
  #remaining: number;
  #end: () => void = () => {};

  constructor(inner: KafkaDriver, end: ReadingEnd, { commits = false, load, decompressedMs = () => 0 }: MeterOptions) {
    this.#commits = commits;
    this.#load = load;
    this.#decompressedMs = decompressedMs;
    this.#remaining = end.maxRecords ?? Number.POSITIVE_INFINITY;
    this.#pending = end.endOffsets === undefined ? undefined : new Map(end.endOffsets);
    this.#reached = new Map(end.startOffsets);
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    if (this.#pending?.size === 0) {
      this.#end();
    }
    this.driver = {
      name: inner.name,
      capabilities: inner.capabilities,
      connect: (subscription, sink) => this.#connect(inner, subscription, sink),
    };
  }

  get isLimited(): boolean {
    return this.#remaining <= 0 && this.#pending?.size !== 0;
  }

  get joinMs(): number {
    return Math.max(0, this.#joinedAtMs - this.#connectedAtMs);
  }

  get sinceJoinMs(): number | null {
    return this.#joinedAtMs === 0 ? null : performance.now() - this.#joinedAtMs;
  }

  get firstBatchMs(): number {
    return Math.max(0, this.#firstBatchAtMs - this.#joinedAtMs);
  }

  get readingMs(): number {
    return Math.max(0, this.#lastBatchAtMs - this.#joinedAtMs);
  }

  get idleMs(): number {
    return this.#joinedAtMs === 0 || this.#busy > 0 ? 0 : performance.now() - this.#lastBatchAtMs;
  }

  get unread(): number {
    return unreadOf(this.#pending ?? new Map(), this.#reached);
  }

  get waitsFor(): DriverWait | null {
    return this.#waits.longest;
  }

  breakOff(): void {
    const isRead = this.#pending !== undefined && this.unread === 0; // but for transaction markers, of which nothing comes
    if (this.#joinedAtMs === 0 || this.#busy > 0 || isRead) {
      return;
    }
    const nowMs = performance.now();
    this.waitMs += nowMs - this.#idleSinceMs;
    this.decompressedWaitingMs += this.#decompressedSince();
    this.#idleSinceMs = nowMs;
    this.#lastBatchAtMs = nowMs;
  }

  async #connect(inner: KafkaDriver, subscription: Subscription, sink: DriverSink): Promise<DriverSession> {
    this.#connectedAtMs = performance.now();
    // Without commits, the reader's positions are kept here: after a rebalance it would read again what it has read.
    const startAt = this.#commits ? undefined : async (asked: readonly PartitionAssignment[]) => this.#positions.of(asked);
    const session = await inner.connect(startAt === undefined ? subscription : { startAt, ...subscription }, {
      assigned: (assignments) => this.#assigned(sink, assignments),
      startsAt: (assignment, offset) => {
        this.#reach(assignment.partition, offset);
        sink.startsAt?.(assignment, offset);
      },
      revoked: (assignments, how) => {
        this.wasRebalanced ||= assignments.length > 0;
        assignments.forEach((assignment) => this.#taken.add(assignment));
        return sink.revoked(assignments, how);
      },
      batch: (batch) => this.#batch(sink, batch),
      skipped: (assignment, lost, resumeOffset) => sink.skipped?.(assignment, lost, resumeOffset),
      waiting: (wait) => this.#waits.watch(wait, sink.waiting?.(wait)),
      reconnected: (why) => sink.reconnected?.(why),
      acknowledged: (validForMs, next) => sink.acknowledged?.(validForMs, next),
      failed: (error) => sink.failed(error),
    });
    return {
      // Partitions that have been read to the end are not stuck: no ranges are reported.
      commit: async (commits) => (this.#commits ? this.#commit(session, commits) : this.#keep(commits)),
      pause: (assignments) => session.pause(assignments),
      resume: (assignments) => session.resume(assignments),
      close: (deadlineMs) => session.close(deadlineMs),
    };
  }

  #keep(commits: readonly OffsetCommit[]): void {
    commits.forEach(({ assignment, offset }) => this.#positions.reached(assignment, offset));
  }

  async #commit(session: DriverSession, commits: Parameters<DriverSession["commit"]>[0]): Promise<void> {
    const startMs = performance.now();
    try {
      await session.commit(commits);
    } finally {
      this.commitMs += performance.now() - startMs;
    }
  }

  #assigned(sink: DriverSink, assignments: readonly PartitionAssignment[]): void {
    if (this.#joinedAtMs === 0) {
      this.#joinedAtMs = performance.now();
      this.#idleSinceMs = this.#joinedAtMs;
      this.#lastDecompressedMs = this.#decompressedMs();
      this.#lastBatchAtMs = this.#joinedAtMs;
    }
    sink.assigned(assignments);
  }

  #batch(sink: DriverSink, fetched: FetchedBatch): Promise<void> | undefined {
    const batch = this.#clip(fetched);
    if (batch === undefined) {
      return undefined;
    }
    this.#enter();
    const taken = sink.batch(batch);
    if (taken === undefined) {
      this.#leave(batch);
      return undefined;
    }
    return taken.then(() => this.#leave(batch));
  }

  #enter(): void {
    this.#load?.batchBegins();
    if (this.#firstBatchAtMs === 0) {
      this.#firstBatchAtMs = performance.now();
    }
    if (this.#busy++ === 0) {
      this.waitMs += performance.now() - this.#idleSinceMs;
      this.decompressedWaitingMs += this.#decompressedSince();
    }
  }

  #leave(batch: FetchedBatch): void {
    const nowMs = performance.now();
    this.batches++;
    this.#lastBatchAtMs = nowMs;
    this.#load?.batchEnds();
    if (--this.#busy === 0) {
      this.#idleSinceMs = nowMs;
      this.decompressedBusyMs += this.#decompressedSince();
    }
    if (!this.#taken.has(batch.assignment)) {
      this.#reach(batch.partition, batch.nextOffset);
    }
  }

  #reach(partition: number, offset: bigint): void {
    this.#reached.set(partition, offset);
    const endOffset = this.#pending?.get(partition);
    if (endOffset !== undefined && offset >= endOffset) {
      this.#pending?.delete(partition);
    }
    if (this.#pending?.size === 0 || this.#remaining <= 0) {
      this.#end();
    }
  }

  /** What decompressing has taken since the last look. */
  #decompressedSince(): number {
    const before = this.#lastDecompressedMs;
    this.#lastDecompressedMs = this.#decompressedMs();
    return this.#lastDecompressedMs - before;
  }

  /** The part of the batch that belongs to the reading; undefined if there is none. */
  #clip(batch: FetchedBatch): FetchedBatch | undefined {
    const endOffset = this.#pending === undefined ? undefined : this.#pending.get(batch.partition);
    if (this.#remaining <= 0 || (this.#pending !== undefined && endOffset === undefined)) {
      return undefined;
    }
    const isCut = endOffset !== undefined && batch.nextOffset > endOffset;
    const count = isCut || batch.recordCount === null ? countBelow(batch, endOffset) : batch.recordCount;
    const taken = Math.min(count, this.#remaining);
    this.#remaining -= taken;
    return count === batch.recordCount && taken === count ? batch : firstOf(batch, taken);
  }
}

function countBelow(batch: FetchedBatch, endOffset: bigint | undefined): number {
  let count = 0;
  const walk = batch.walk();
  while (walk.next() && (endOffset === undefined || batch.offsetAt(walk.record) < endOffset)) {
    count++;
  }
  return count;
}

/** The batch, seen as if it ended after so many records. */
function firstOf(batch: FetchedBatch, count: number): FetchedBatch {
  return {
    topic: batch.topic,
    partition: batch.partition,
    assignment: batch.assignment,
    byteLength: batch.byteLength,
    wireBytes: batch.wireBytes,
    nextOffset: batch.nextOffset,
    highWatermark: batch.highWatermark,
    recordCount: count,
    offsetAt: (record) => batch.offsetAt(record),
    timestampAt: (record) => batch.timestampAt(record),
    headersAt: (record) => batch.headersAt(record),
    keyAt: (record) => batch.keyAt(record),
    valueAt: (record) => batch.valueAt(record),
    headerNamesAre: (record, names) => batch.headerNamesAre(record, names),
    walk: () => firstRecords(batch.walk(), count),
  };
}

function firstRecords(walk: RecordWalk, count: number): RecordWalk {
  let taken = 0;
  // The steps are counted on the walk itself: its fields are the driver's, and copying them would cost every record.
  const next = walk.next.bind(walk);
  walk.next = () => taken++ < count && next();
  return walk;
}
