import { settledWithin } from "./deadline.ts";
import { Committer } from "./delivery/committer.ts";
import type { Dispatcher } from "./delivery/dispatcher.ts";
import { Lease } from "./delivery/lease.ts";
import { PartitionHolds } from "./delivery/partition-holds.ts";
import { type HeldPartition, PartitionLedgers } from "./delivery/partition-ledgers.ts";
import type {
  DriverSession,
  DriverSink,
  FetchedBatch,
  LostRange,
  OffsetCommit,
  OutgoingRecord,
  PartitionAssignment,
  Subscription,
} from "./driver.ts";
import { ConsumerError } from "./errors.ts";
import { advance, initialState, type LifecycleEvent, type LifecycleState, type Phase } from "./lifecycle.ts";
import { writtenTopics } from "./failure/written-topics.ts";
import { Latch } from "./latch.ts";
import { lossText, lostOffsetCount } from "./lost-range.ts";
import { publish } from "./observe/channels.ts";
import type { Counters } from "./observe/counters.ts";
import { type Health, reportHealth } from "./observe/health.ts";
import { RangeWatch } from "./observe/range-watch.ts";
import type { OpenWait, WaitFor, Waits } from "./observe/waits.ts";
import { type Suspicion, suspicionText, type WatchedPartition } from "./observe/watchdog.ts";
import type { ResolvedConsumerOptions } from "./options.ts";
import { type SeekPosition, seekTo } from "./delivery/seek-to.ts";
import { startPositionAt } from "./start-position.ts";
import { refuseWhatItCannot } from "./session-needs.ts";
import { connectPatiently } from "./startup.ts";
import { stillAtWork } from "./still-at-work.ts";
import { toError } from "./user-code/user-value.ts";

/** After nothing is waited for any more, the driver still gets this long to commit and to close. */
const forcedCloseMs = 1_000;

/** Joins driver, dispatcher and commits. It does what the life cycle says, and decides nothing itself. */
export class ConsumerEngine implements DriverSink {
  readonly #options: ResolvedConsumerOptions;
  readonly #counters: Counters;
  readonly #waits: Waits;
  readonly #ledgers: PartitionLedgers = new PartitionLedgers();
  readonly #holds: PartitionHolds = new PartitionHolds(() => this.#session, this.#ledgers);
  /** For how long the group is known to keep this member. It is asked before anything is handed on. */
  readonly lease: Lease;
  readonly #committer: Committer;
  readonly #watch: RangeWatch;
  readonly #connected: Latch = new Latch();
  readonly #closing: Latch = new Latch();
  readonly #stopped: Latch = new Latch();
  readonly #connectAbort: AbortController = new AbortController();
  #state: LifecycleState = initialState;
  #dispatcher: Dispatcher | undefined;
  #session: DriverSession | undefined;
  #connecting: Promise<void> = Promise.resolve();
  #lastProgressAt: number | null = null;
  #lastLoss: string | null = null;
  #startAt: Subscription["startAt"];
  #needsTransactions = false;
  readonly #notes: (() => readonly string[])[] = [];
  #isStoppedByCaller = false;
  /** Topics of which a partition was ever assigned. */
  readonly topics: Set<string> = new Set();
  readonly #onRelease: ((assignments: readonly PartitionAssignment[]) => void)[] = [];
  readonly #beforeRelease: (() => Promise<void>)[] = [];

  constructor(options: ResolvedConsumerOptions, counters: Counters, waits: Waits) {
    this.#options = options;
    this.#counters = counters;
    this.#waits = waits;
    this.lease = new Lease({ clock: options.clock, wait: (wait) => waits.open(wait) });
    this.#committer = new Committer({
      lease: this.lease,
      ledgers: this.#ledgers,
      logger: options.logger,
      clock: options.clock,
      checkpoint: () => this.#dispatcher?.checkpoint(),
      groupId: options.groupId,
      waits,
    });
    this.#watch = new RangeWatch({
      clock: options.clock,
      intervalMs: options.health.lagIntervalMs,
      stuckAfterMs: options.health.stuckAfterMs,
      partitions: () => [...this.#ledgers.held()].map((held) => this.#watched(held)),
      onRanges: (ranges) => this.#ledgers.learnRanges(ranges),
      onSuspicion: (suspicion) => this.#suspect(suspicion),
    });
    options.userFunctions.onFailure((error) => this.fail(error));
    this.addNotes(() => options.userFunctions.reasons);
  }

  get phase(): Phase {
    return this.#state.phase;
  }

  /** A consumer is started once: a second start must not touch what the first one uses. */
  refuseUnlessIdle(): void {
    if (this.phase !== "idle") {
      throw new ConsumerError("wrong-phase", `this consumer was started before and is ${this.phase}; create a new one`);
    }
  }

  /** Runs until the consumer has stopped. Rejects with the error that halted it. */
  async run(dispatcher: Dispatcher): Promise<void> {
    this.refuseUnlessIdle();
    this.#dispatcher = dispatcher;
    this.#dispatch({ type: "start" });
    await this.#stopped.opened;
    if (this.#state.error !== null) {
      throw this.#state.error;
    }
  }

  /** Drains, commits and leaves the group. Resolves when the consumer has stopped, even if it failed. */
  stop(by: "caller" | "signal" = "caller"): Promise<void> {
    this.#isStoppedByCaller ||= by === "caller";
    this.#dispatch({ type: "stop" });
    return this.#stopped.opened;
  }

  /** Stops waiting for what is in flight. */
  force(why: string): void {
    this.#dispatch({
      type: "force",
      error: new ConsumerError("work-abandoned", `${why}: what was not handled and committed by then comes again after a restart`),
    });
  }

  fail(error: Error): void {
    this.#dispatch({ type: "fail", error });
  }

  /** Writes through the driver. Resolves when every replica has the records. */
  async send(records: readonly OutgoingRecord[]): Promise<void> {
    await this.#session?.send?.(records);
  }

  /** Writes records and commits offsets in one transaction of the driver. */
  transact(records: readonly OutgoingRecord[], offsets: readonly OffsetCommit[]): Promise<void> {
    return this.#committer.commitWith(offsets, async (session) => session.transact?.(records, offsets));
  }

  /** From here on the start refuses a driver without transactions. */
  requireTransactions(): void {
    this.#needsTransactions = true;
  }

  /** Pauses all partitions, or resumes them. */
  holdAll(isHeld: boolean): void {
    this.#holds.setAll(isHeld);
  }

  /** How long the closing of sinks, and of the driver, may take. */
  get closeMs(): number {
    const { shutdownTimeoutMs } = this.#options;
    return this.#state.error === null ? shutdownTimeoutMs : Math.min(forcedCloseMs, shutdownTimeoutMs);
  }

  /** Aborted when nothing is waited for any more. */
  get closing(): AbortSignal {
    return this.#connectAbort.signal;
  }

  /** Says where partitions start. To be called before `run`. */
  startAt(ask: NonNullable<Subscription["startAt"]>): void {
    this.#startAt = ask;
  }

  /** Adds reasons to the health report. */
  addNotes(note: () => readonly string[]): void {
    this.#notes.push(note);
  }

  /** Registers what is called when partitions are not held any more. */
  onRelease(call: (assignments: readonly PartitionAssignment[]) => void): void {
    this.#onRelease.push(call);
  }

  /** Registers what must resolve before partitions are given up. The deadline ends that wait. */
  beforeRelease(wait: () => Promise<void>): void {
    this.#beforeRelease.push(wait);
  }

  /** This member has the partition, and it is not about to go. */
  holds(assignment: PartitionAssignment): boolean {
    return this.#ledgers.holds(assignment) && (this.phase === "connecting" || this.phase === "running");
  }

  progress(): void {
    this.#lastProgressAt = this.#options.clock.wallMs();
  }

  health(): Health {
    return reportHealth({
      state: this.#state,
      held: this.#ledgers.held(),
      lastProgressAt: this.#lastProgressAt,
      counts: this.#counters.snapshot(),
      blockedBy: this.#dispatcher?.blockedBy() ?? null,
      lastLoss: this.#lastLoss,
      waits: this.#waits.report(),
      suspicions: this.#watch.suspicions,
      notes: this.#notes.flatMap((note) => note()),
      stuckAfterMs: this.#options.health.stuckAfterMs,
    });
  }

  /** Moves a partition that is held to another offset. */
  seek(position: SeekPosition): Promise<void> {
    return seekTo(position, {
      session: this.phase === "running" ? this.#session : undefined,
      ledgers: this.#ledgers,
      letGo: (assignment) => this.revoked([assignment], "revoked"),
      commit: () => this.#committer.commit(),
    });
  }

  assigned(assignments: readonly PartitionAssignment[]): void {
    assignments.forEach(({ topic }) => this.topics.add(topic));
    this.#ledgers.assign(assignments);
    this.#holds.assigned(assignments);
    this.#options.logger.info({ partitions: assignments.map(describe) }, "partitions assigned");
    publish("assigned", () => ({ groupId: this.#options.groupId, assignments }));
  }

  async revoked(assignments: readonly PartitionAssignment[], how: "revoked" | "lost"): Promise<void> {
    this.#options.logger.info({ partitions: assignments.map(describe), how }, "partitions go");
    publish("revoked", () => ({ groupId: this.#options.groupId, assignments, how }));
    // Announced before the drain. Otherwise: the drain ends, a batch that waited for the connection is taken, its records are handled here, and
    // after the last commit the next owner handles them again.
    this.#ledgers.announceRelease(assignments);
    const drained = Promise.all([
      this.#dispatcher?.drain(how === "lost" || this.lease.isOver ? "fence" : "finish", assignments),
      this.#readyToRelease(),
    ]);
    if (how === "revoked") {
      // At once, because not every client waits: kafkajs joins again while it still handles the answer of its heartbeat.
      void this.#committer.commit();
      const inTime = await this.#drainedInTime(drained);
      if (!inTime) {
        this.#options.logger.warn(
          { partitions: assignments.map(describe) },
          "partitions were given up with events in flight; those events come again",
        );
      }
      await this.#settledWithin(this.#committer.commit(), this.#options.shutdownTimeoutMs);
    }
    void this.#dispatcher?.drain("fence", assignments);
    this.#release(assignments);
  }

  batch(batch: FetchedBatch): Promise<void> | undefined {
    if (this.phase === "connecting") {
      return this.#connected.opened.then(() => this.batch(batch));
    }
    if (this.phase !== "running") {
      // Not taken. The driver is held here until it is closed. Otherwise it would hand the same records over again and again.
      return this.#closing.opened;
    }
    const held = this.#ledgers.of(batch);
    if (held === undefined || held.isGoing || this.#dispatcher === undefined) {
      return undefined;
    }
    held.highWatermark = batch.highWatermark;
    this.progress();
    try {
      return this.#dispatcher.take(batch, held);
    } catch (error) {
      this.failed(error); // no dispatcher throws: this is our own mistake, and the driver must not believe that the batch is taken
      return this.#closing.opened;
    }
  }

  skipped(assignment: PartitionAssignment, lost: LostRange, resumeOffset: bigint): void {
    this.#ledgers.continueAt(assignment, resumeOffset);
    const { logger, groupId, failure } = this.#options;
    this.#lastLoss = `${lossText(lost, resumeOffset)}, because failure.lostRange is ${JSON.stringify(failure.lostRange)}`;
    this.#counters.lostOffsets += lostOffsetCount(lost, resumeOffset);
    this.#counters.recreated += lost.recreated === undefined ? 0 : 1;
    logger.error({ ...lost, resumeOffset }, this.#lastLoss);
    publish("lost-range", () => ({ groupId, lost, resumeOffset }));
  }

  acknowledged(validForMs: number): void {
    this.lease.extend(validForMs);
  }

  waiting(wait: WaitFor): OpenWait {
    return this.#waits.open(wait);
  }

  reconnected(why: string): void {
    this.#counters.reconnects++;
    this.#options.logger.warn({ why }, "connections did not answer and are replaced");
  }

  failed(error: unknown): void {
    const readable = toError(error);
    this.fail(
      readable === error
        ? readable
        : new ConsumerError("driver-failed", `the ${this.#options.driver.name} driver failed`, { cause: error }),
    );
    // A drain that is under way ends here. If the lease ran out, the drain would wait until its deadline for an acknowledgement that never
    // comes.
    void this.#dispatcher?.drain("fence");
  }

  /** If a log ends below what was handled, the consumer halts: the log does not hold what was read. */
  #suspect(suspicion: Suspicion): void {
    const reason = suspicionText(suspicion);
    this.#options.logger.warn({ reason }, "the consumer may be stuck");
    publish("suspicion", () => ({ groupId: this.#options.groupId, reason }));
    if (suspicion.kind !== "truncated") {
      this.#session?.reconnect?.(reason);
    } else {
      const checkpoint =
        this.#startAt === undefined ? "" : ", and the checkpoint of each sink, because a sink starts from its own checkpoint";
      this.fail(new ConsumerError("log-truncated", `${reason}; decide where to go on, and set the group's offset${checkpoint}`));
    }
  }

  /** The client need not fetch what is at work, held, or being claimed by a sink. */
  #watched({ assignment, ledger }: HeldPartition): WatchedPartition {
    const isAtWork = ledger.inFlight > 0 || this.#holds.isHeld(assignment) || this.#dispatcher?.hasWork(assignment) === true;
    return { assignment, handledTo: ledger.watermark, isAtWork };
  }

  #dispatch(event: LifecycleEvent): void {
    const before = this.#state;
    this.#state = advance(before, event);
    if (this.#state.phase !== before.phase) {
      this.#options.logger.debug({ from: before.phase, to: this.#state.phase }, "consumer phase");
      publish("phase", () => ({ groupId: this.#options.groupId, from: before.phase, to: this.#state.phase }));
      this.#enter(this.#state.phase);
    }
  }

  #enter(phase: Phase): void {
    switch (phase) {
      case "idle":
        return;
      case "connecting":
        this.#waits.start(() => this.#dispatcher?.atWork() ?? []);
        this.#connecting = this.#connect();
        return;
      case "running":
        this.#connected.open();
        return;
      case "draining":
        void this.#drain();
        return;
      case "closing":
        this.#connected.open();
        this.#closing.open();
        // If nothing was drained before (a stop while connecting, or a forced stop), all who wait for the dispatcher are released here.
        void this.#dispatcher?.drain("fence");
        void this.#close();
        return;
      case "stopped":
        this.#waits.close();
        this.#stopped.open();
        return;
    }
  }

  async #connect(): Promise<void> {
    const { driver, groupId, topics, logger, delivery, failure, clock } = this.#options;
    const from = startPositionAt(this.#options.from, clock.wallMs());
    const { signal } = this.#connectAbort;
    const startAt = this.#startAt === undefined ? {} : { startAt: this.#holds.whileAsked(this.#startAt) };
    const joining = this.#waits.open({ what: `the ${driver.name} driver, which joins the group ${groupId},` });
    try {
      const subscription = {
        groupId,
        topics,
        from,
        logger,
        signal,
        lostRange: failure.lostRange,
        writesTo: writtenTopics(failure),
        ...startAt,
      };
      const connect = (): Promise<DriverSession> => driver.connect(subscription, this);
      const session = await connectPatiently({ ...this.#options, connect, waiting: joining, over: this.#closing.opened });
      this.#session = session ?? undefined;
      if (session === null || this.phase !== "connecting") {
        return; // nobody waits for the session any more: #close closes it, and no timer may start
      }
      refuseWhatItCannot(session, this.#options, this.#needsTransactions);
      this.#committer.start(session, delivery.commitIntervalMs);
      this.#watch.start(session);
      this.#dispatch({ type: "connected" });
    } catch (error) {
      // A driver that gives up because nobody waits for it does what it was asked to do.
      if (!signal.aborted) {
        this.failed(error);
      }
    } finally {
      joining.end();
    }
  }

  async #drain(): Promise<void> {
    const { shutdownTimeoutMs } = this.#options;
    const how = this.#state.error === null && !this.lease.isOver ? "finish" : "fence";
    const drained = (this.#dispatcher?.drain(how) ?? Promise.resolve()).then(() => this.#committer.commit());
    if (await this.#drainedInTime(drained)) {
      this.#dispatch({ type: "drained" });
    } else {
      this.force(
        `the stop took longer than ${shutdownTimeoutMs} ms${stillAtWork(this.#dispatcher?.atWork() ?? [], this.#isStoppedByCaller)}`,
      );
    }
  }

  async #close(): Promise<void> {
    const { logger, driver } = this.#options;
    const closeMs = this.closeMs;
    this.#connectAbort.abort();
    if (!(await this.#settledWithin(this.#connecting, closeMs))) {
      // Nobody waits for it any more. A session that still comes about must not stay in the group.
      void this.#connecting.then(() => this.#session?.close(closeMs));
      logger.warn({ driver: driver.name }, "the driver was still connecting when the consumer stopped");
    }
    this.#watch.stop();
    this.#committer.stop();
    await this.#settledWithin(Promise.all([this.#committer.commit(), this.#readyToRelease()]), closeMs);
    const closed = this.#session?.close(closeMs) ?? Promise.resolve();
    if (!(await this.#settledWithin(closed, closeMs))) {
      logger.warn({ driver: driver.name, closeMs }, "the driver did not close in time");
    }
    this.#release([...this.#ledgers.held()].map(({ assignment }) => assignment));
    this.#dispatch({ type: "closed" });
  }

  async #readyToRelease(): Promise<void> {
    await Promise.all(this.#beforeRelease.map((wait) => wait()));
  }

  #release(assignments: readonly PartitionAssignment[]): void {
    this.#ledgers.release(assignments);
    for (const assignment of assignments) {
      this.#waits.endOf(assignment);
    }
    for (const call of this.#onRelease) {
      call(assignments);
    }
  }

  /** Ends with the closing phase, too: the timer of a drain that nobody waits for would keep the process alive. */
  #drainedInTime(drained: Promise<unknown>): Promise<boolean> {
    return this.#settledWithin(Promise.race([drained, this.#closing.opened]), this.#options.shutdownTimeoutMs);
  }

  #settledWithin(work: Promise<unknown>, timeoutMs: number): Promise<boolean> {
    return settledWithin(work, timeoutMs, this.#options.clock);
  }
}

function describe({ topic, partition, epoch }: PartitionAssignment): string {
  return `${topic}[${partition}]@${epoch}`;
}
