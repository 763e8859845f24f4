import type { Committer } from "./delivery/committer.ts";
import type { Dispatcher } from "./delivery/dispatcher.ts";
import type { Lease } from "./delivery/lease.ts";
import type { PartitionPauses } from "./delivery/partition-pauses.ts";
import type { PartitionLedgers } from "./delivery/partition-ledgers.ts";
import type { Turns } from "./delivery/turns.ts";
import type { DriverSink, FetchedBatch, LostRange, NextAcknowledgement, PartitionAssignment } from "./driver.ts";
import { ConsumerError } from "./errors.ts";
import type { Phase } from "./lifecycle.ts";
import { lossText, lostOffsetCount } from "./lost-range.ts";
import { publish } from "./observe/channels.ts";
import type { Counters } from "./observe/counters.ts";
import type { OpenWait, WaitFor, Waits } from "./observe/waits.ts";
import type { ResolvedConsumerOptions } from "./options.ts";
import { toError } from "./user-code/user-value.ts";

export interface DriverEventsParts {
  readonly options: ResolvedConsumerOptions;
  readonly counters: Counters;
  readonly waits: Waits;
  readonly lease: Lease;
  readonly turns: Turns;
  readonly ledgers: PartitionLedgers;
  readonly pauses: PartitionPauses;
  readonly committer: Committer;
  readonly phase: () => Phase;
  /** Undefined before the start. */
  readonly dispatcher: () => Dispatcher | undefined;
  /** Whether the partition starts here because the sinks have applied everything before. */
  readonly isAppliedTo: (assignment: PartitionAssignment, offset: bigint) => boolean;
  /** The sinks whose checkpoints are below the offset at which the partition starts. */
  readonly sinksBehind: (
    assignment: PartitionAssignment,
    offset: bigint,
  ) => readonly { readonly sink: string; readonly checkpoint: bigint }[];
  /** Resolves when the consumer is connected, or will not be. */
  readonly connected: Promise<void>;
  /** Resolves when nothing is waited for any more. */
  readonly closing: Promise<void>;
  /** Resolves with true if the drain ends before its deadline. */
  readonly drainedInTime: (drained: Promise<unknown>) => Promise<boolean>;
  readonly settledInTime: (work: Promise<unknown>) => Promise<boolean>;
  /** A batch was taken. */
  readonly taken: () => void;
  /** Halts the consumer. */
  readonly fail: (error: Error) => void;
}

/** Does what the driver's events ask for: takes its batches, and takes over and gives up partitions. */
export class DriverEvents implements DriverSink {
  readonly #parts: DriverEventsParts;
  /** Topics of which a partition was ever assigned. */
  readonly topics: Set<string> = new Set();
  readonly #onRelease: ((assignments: readonly PartitionAssignment[]) => void)[] = [];
  readonly #beforeRelease: (() => Promise<void>)[] = [];
  #lastLoss: string | null = null;

  constructor(parts: DriverEventsParts) {
    this.#parts = parts;
  }

  /** The last range that was skipped, in words. Null if none was. */
  get lastLoss(): string | null {
    return this.#lastLoss;
  }

  /** Registers what is called when partitions are not held any more. */
  onRelease(call: (assignments: readonly PartitionAssignment[]) => void): void {
    this.#onRelease.push(call);
  }

  /** Registers what must resolve before partitions are given up. The deadline ends that wait. */
  beforeRelease(wait: () => Promise<void>): void {
    this.#beforeRelease.push(wait);
  }

  assigned(assignments: readonly PartitionAssignment[]): void {
    const { options, ledgers, pauses } = this.#parts;
    assignments.forEach(({ topic }) => this.topics.add(topic));
    ledgers.assign(assignments);
    pauses.assigned(assignments);
    options.logger.info(listed(assignments), "partitions assigned");
    publish("assigned", () => ({ groupId: options.groupId, assignments }));
  }

  /**
   * What the sinks have applied is committed at once. A member that was killed between a sink's transaction and the commit has left the group's
   * offset below it, and what measures the group's lag outside would show that lag until the next record comes.
   *
   * With handlers, a partition starts at the group's offset, and that is never above a checkpoint by itself: somebody has set it forward, or a sink's
   * store has lost what it had.
   */
  startsAt(assignment: PartitionAssignment, offset: bigint): void {
    const { ledgers, isAppliedTo, sinksBehind, options } = this.#parts;
    for (const behind of sinksBehind(assignment, offset)) {
      const { topic, partition } = assignment;
      options.logger.warn(
        { ...behind, topic, partition, offset },
        "a sink misses the records between its checkpoint and the start of the partition",
      );
    }
    ledgers.startsAt(assignment, offset);
    if (isAppliedTo(assignment, offset)) {
      ledgers.continueAt(assignment, offset);
    }
  }

  async revoked(assignments: readonly PartitionAssignment[], how: "revoked" | "lost"): Promise<void> {
    const { options, ledgers, lease, committer, dispatcher, drainedInTime, settledInTime } = this.#parts;
    options.logger.info({ ...listed(assignments), how }, "partitions go");
    publish("revoked", () => ({ groupId: options.groupId, assignments, how }));
    // Announced before the drain. Otherwise: the drain ends, a batch that waited for the connection is taken, its records are handled here, and
    // after the last commit the next owner handles them again.
    ledgers.announceRelease(assignments);
    const drained = Promise.all([
      dispatcher()?.drain(how === "lost" || lease.isOver ? "fence" : "finish", assignments),
      this.readyToRelease(),
    ]);
    if (how === "revoked") {
      // At once, because not every client waits: kafkajs joins again while it still handles the answer of its heartbeat.
      void committer.commit();
      if (!(await drainedInTime(drained))) {
        options.logger.warn(listed(assignments), "partitions were given up with events in flight; those events come again");
      }
      await settledInTime(committer.commit());
    }
    void dispatcher()?.drain("fence", assignments);
    this.release(assignments);
  }

  batch(batch: FetchedBatch): Promise<void> | undefined {
    const { phase, connected, closing, ledgers, turns, taken } = this.#parts;
    if (phase() === "connecting") {
      return connected.then(() => this.batch(batch));
    }
    if (phase() !== "running") {
      // Not taken. The driver is held here until it is closed. Otherwise it would hand the same records over again and again.
      return closing;
    }
    const held = ledgers.of(batch.assignment);
    const dispatcher = this.#parts.dispatcher();
    if (held === undefined || held.isGoing || dispatcher === undefined) {
      return undefined;
    }
    held.highWatermark = batch.highWatermark;
    taken();
    try {
      // A dispatcher that only keeps the batch has not asked, and the driver may have unpacked much for it.
      return dispatcher.take(batch, held) ?? turns.restBeforeBatch(null) ?? undefined;
    } catch (error) {
      this.failed(error); // no dispatcher throws: this is our own mistake, and the driver must not believe that the batch is taken
      return closing;
    }
  }

  skipped(assignment: PartitionAssignment, lost: LostRange, resumeOffset: bigint): void {
    const {
      counters,
      options: { logger, groupId, failure },
    } = this.#parts;
    this.#goOnAt(assignment, resumeOffset);
    this.#lastLoss = `${lossText(lost, resumeOffset)}, because failure.lostRange is ${JSON.stringify(failure.lostRange)}`;
    counters.lostOffsets += lostOffsetCount(lost, resumeOffset);
    counters.recreated += lost.recreated === undefined ? 0 : 1;
    logger.error({ ...lost, resumeOffset }, this.#lastLoss);
    publish("lost-range", () => ({ groupId, lost, resumeOffset }));
  }

  /**
   * The group's commit and the sinks' checkpoints move: until something were handled, each start would find the same range lost. They move behind
   * what was taken before and is perhaps not read yet: with it passed over, a restart would lose it. A consumer that stops leaves the range to
   * the next start: what it has in memory is not handled any more.
   */
  #goOnAt(assignment: PartitionAssignment, resumeOffset: bigint): void {
    const { phase, connected, ledgers, dispatcher } = this.#parts;
    if (phase() === "connecting") {
      void connected.then(() => this.#goOnAt(assignment, resumeOffset));
    } else if (phase() === "running") {
      const held = ledgers.of(assignment);
      if (held !== undefined && !held.isGoing) {
        dispatcher()?.skipTo(held, resumeOffset);
      }
    }
  }

  acknowledged(validForMs: number, next?: NextAcknowledgement): void {
    this.#parts.lease.extend(validForMs, next);
  }

  waiting(wait: WaitFor): OpenWait {
    return this.#parts.waits.open(wait);
  }

  reconnected(why: string): void {
    const { counters, options } = this.#parts;
    counters.reconnects++;
    options.logger.warn({ why }, "connections did not answer and are replaced");
  }

  failed(error: unknown): void {
    const { fail, options, dispatcher } = this.#parts;
    const readable = toError(error);
    fail(readable === error ? readable : new ConsumerError("driver-failed", `the ${options.driver.name} driver failed`, { cause: error }));
    // A drain that is under way ends here. If the lease ran out, the drain would wait until its deadline for an acknowledgement that never
    // comes.
    void dispatcher()?.drain("fence");
  }

  /** Resolves when nothing keeps partitions from being given up. */
  async readyToRelease(): Promise<void> {
    await Promise.all(this.#beforeRelease.map((wait) => wait()));
  }

  /** From here on nothing of the partitions is committed. */
  release(assignments: readonly PartitionAssignment[]): void {
    const { ledgers, waits } = this.#parts;
    ledgers.release(assignments);
    for (const assignment of assignments) {
      waits.endOf(assignment);
    }
    for (const call of this.#onRelease) {
      call(assignments);
    }
  }
}

/** Most partitions that a line names. A member may have thousands, and collectors of logs cut long lines or refuse them. */
const maxNamed = 100;

/** Partitions as fields of a line. */
function listed(assignments: readonly PartitionAssignment[]): { readonly count: number; readonly partitions: readonly string[] } {
  return { count: assignments.length, partitions: assignments.slice(0, maxNamed).map(describe) };
}

/** Not with an `@`: that is before the offset of a record in every other text. */
function describe({ topic, partition, epoch }: PartitionAssignment): string {
  return `${topic}[${partition}] (epoch ${epoch})`;
}
