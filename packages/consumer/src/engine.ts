import { Deadline, settledWithin } from "./deadline.ts";
import { Committer } from "./delivery/committer.ts";
import type { Dispatcher } from "./delivery/dispatcher.ts";
import { Lease } from "./delivery/lease.ts";
import { PartitionPauses } from "./delivery/partition-pauses.ts";
import { type HeldPartition, PartitionLedgers } from "./delivery/partition-ledgers.ts";
import type { OffsetCommit, OutgoingRecord, PartitionAssignment } from "./driver.ts";
import { DriverEvents } from "./driver-events.ts";
import { ConsumerError } from "./errors.ts";
import { advance, initialState, type LifecycleEvent, type LifecycleState, type Phase } from "./lifecycle.ts";
import { GroupConnection } from "./group-connection.ts";
import { Latch } from "./latch.ts";
import { publish } from "./observe/channels.ts";
import type { Counters } from "./observe/counters.ts";
import { type Health, reportHealth } from "./observe/health.ts";
import { metricsOf } from "./observe/prometheus.ts";
import { RangeWatch } from "./observe/range-watch.ts";
import type { Waits } from "./observe/waits.ts";
import { type Suspicion, suspicionText, suspicionTexts, type WatchedPartition } from "./observe/watchdog.ts";
import { refuseLate } from "./one-start.ts";
import type { ResolvedConsumerOptions } from "./options.ts";
import { type SeekPosition, seekTo } from "./delivery/seek-to.ts";
import type { SinkClaims } from "./delivery/sink-claims.ts";
import { Turns } from "./delivery/turns.ts";
import { stillAtWork, stillWaitedFor } from "./still-at-work.ts";
import { toError } from "./user-code/user-value.ts";

/** A stop that takes longer says what it waits for. */
const slowStopMs = 1_000;
/** After nothing is waited for any more, the driver still gets this long to commit and to close. */
const forcedCloseMs = 1_000;

/** How long events are handled before timers, sockets and signals have a turn: a service answers requests beside its consumer. */
const maxBlockMs = 10;

/** Joins driver, dispatcher and commits. It does what the life cycle says, and decides nothing itself. */
export class ConsumerEngine {
  readonly #options: ResolvedConsumerOptions;
  readonly #counters: Counters;
  readonly #waits: Waits;
  readonly #ledgers: PartitionLedgers = new PartitionLedgers();
  readonly #pauses: PartitionPauses = new PartitionPauses(() => this.#connection.session, this.#ledgers);
  /** For how long the group is known to keep this member. It is asked before anything is handed on. */
  readonly lease: Lease;
  readonly turns: Turns;
  readonly #committer: Committer;
  readonly #connection: GroupConnection;
  readonly events: DriverEvents;
  readonly #watch: RangeWatch;
  readonly #connected: Latch = new Latch();
  readonly #closing: Latch = new Latch();
  /** Opened some time after a second signal has come while the consumer was closing. Nothing more is waited for then. */
  readonly #overdue: Latch = new Latch();
  #cancelOverdue: (() => void) | null = null;
  /** Of all that follows the drain: the last commit, the driver's close, and that of the sinks. Null before the consumer closes. */
  #closingDeadline: Deadline | null = null;
  readonly #stopped: Latch = new Latch();
  #state: LifecycleState = initialState;
  #dispatcher: Dispatcher | undefined;
  #lastProgressAt: number | null = null;
  /** What the counters had at the last progress. */
  #seenProgress = 0;
  #claims: SinkClaims | undefined;
  readonly #notes: (() => readonly string[])[] = [];
  #isStoppedByCaller = false;
  #abortReason: unknown;
  #isSlowStop = false;
  /** What was in flight is handled or let go of, and the commit is not answered. */
  #isCommittingLast = false;
  /** Shows the consumer among those of its group. */
  readonly #joinMetrics: () => void;

  constructor(options: ResolvedConsumerOptions, counters: Counters, waits: Waits) {
    this.#options = options;
    this.#counters = counters;
    this.#waits = waits;
    this.#connection = new GroupConnection(options, waits, this.#overdue.opened);
    this.lease = new Lease({ clock: options.clock, wait: (wait) => waits.open(wait) });
    this.turns = new Turns(options.clock, maxBlockMs);
    this.#committer = new Committer({
      lease: this.lease,
      ledgers: this.#ledgers,
      logger: options.logger,
      clock: options.clock,
      checkpoint: () => this.#dispatcher?.checkpoint(),
      fail: (error) => this.fail(error),
      groupId: options.groupId,
      waits,
    });
    this.#watch = new RangeWatch({
      clock: options.clock,
      intervalMs: options.health.lagIntervalMs,
      stuckAfterMs: options.health.stuckAfterMs,
      partitions: () => [...this.#ledgers.held()].map((held) => this.#watched(held)),
      onRanges: (ranges) => this.#ledgers.learnRanges(ranges),
      onSuspicions: (suspicions) => this.#suspect(suspicions),
    });
    this.events = new DriverEvents({
      options,
      counters,
      waits,
      lease: this.lease,
      turns: this.turns,
      ledgers: this.#ledgers,
      pauses: this.#pauses,
      committer: this.#committer,
      phase: () => this.phase,
      dispatcher: () => this.#dispatcher,
      isAppliedTo: (assignment, offset) => this.#claims?.isAppliedTo(assignment, offset) === true,
      sinksBehind: (assignment, offset) => this.#claims?.behind(assignment, offset) ?? [],
      connected: this.#connected.opened,
      closing: this.#closing.opened,
      drainedInTime: (drained) => this.#drainedInTime(drained),
      settledInTime: (work) => this.#settledWithin(work, options.shutdownTimeoutMs),
      taken: () => this.taken(),
      fail: (error) => {
        if (!this.#connection.isGivenUp) {
          this.fail(error);
        }
      },
    });
    this.#joinMetrics = metricsOf(options.telemetry.prometheus, options.groupId, () => this.health(), options.clock);
    options.userFunctions.onFailure((error) => this.fail(error));
    this.addNotes(() => options.userFunctions.reasons);
    this.addNotes(() => (this.#isSlowStop && this.phase === "draining" ? [this.#slowStopText(slowStopMs)] : []));
  }

  get phase(): Phase {
    return this.#state.phase;
  }

  /** Resolves when the consumer has stopped, whatever has led to it. */
  get stopped(): Promise<void> {
    return this.#stopped.opened;
  }

  /** Throws `wrong-phase` if it is too late. `started`: what is said of that after a start; left out if it was for a start. */
  refuseUnlessIdle(started?: string): void {
    refuseLate(this.#state, this.#dispatcher !== undefined, started);
  }

  /**
   * What a start asks for. An error of it halts the consumer: nobody starts it again, and a probe that found it live, as one that will still
   * start, would keep its process for ever.
   */
  admit<Asked>(ask: () => Asked): Asked {
    this.refuseUnlessIdle();
    try {
      this.#joinMetrics();
      return ask();
    } catch (error) {
      this.fail(toError(error));
      throw error;
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

  /** The user's `AbortSignal` was aborted: a stop, whose reason is kept. */
  aborted(reason: unknown): void {
    this.#abortReason ??= reason;
    this.#options.logger.info({ err: reason }, "the signal was aborted: the consumer stops");
    void this.stop("signal");
  }

  /** Stops waiting for what is in flight. */
  force(why: string): void {
    if (this.phase === "closing") {
      this.#cancelOverdue ??= this.#options.clock.after(forcedCloseMs, () => this.#overdue.open());
    }
    this.#dispatch({
      type: "force",
      error: new ConsumerError("work-abandoned", `${why}: what was not handled and committed by then comes again after a restart`, {
        cause: this.#abortReason,
      }),
    });
  }

  fail(error: Error): void {
    this.#dispatch({ type: "fail", error });
  }

  /** Writes through the driver. Resolves when every replica has the records. */
  async send(records: readonly OutgoingRecord[]): Promise<void> {
    const { session } = this.#connection;
    if (session?.send === undefined) {
      throw this.#cannotWrite(); // refused at the start: to go on would mean that the records are written
    }
    await session.send(records);
  }

  /** Writes records and commits offsets in one transaction of the driver. */
  transact(records: readonly OutgoingRecord[], offsets: readonly OffsetCommit[]): Promise<void> {
    return this.#committer.commitWith(offsets, async (session) => {
      if (session.transact === undefined) {
        throw this.#cannotWrite();
      }
      await session.transact(records, offsets);
    });
  }

  /** From here on the start refuses a driver without transactions. */
  requireTransactions(): void {
    this.#connection.requireTransactions();
  }

  /** Pauses all partitions, or resumes them. */
  pauseAll(isPaused: boolean): void {
    this.#pauses.setAll(isPaused);
  }

  /** How long what is still to be closed may take. */
  get closeLeftMs(): number {
    return Math.min(this.#closingDeadline?.leftMs ?? this.#closeMs, this.#closeMs);
  }

  get #closeMs(): number {
    const { shutdownTimeoutMs } = this.#options;
    return this.#state.error === null ? shutdownTimeoutMs : Math.min(forcedCloseMs, shutdownTimeoutMs);
  }

  /** Aborted when nothing is waited for any more. */
  get closing(): AbortSignal {
    return this.#connection.signal;
  }

  /** Partitions start where these say. To be called before `run`. */
  startAt(claims: SinkClaims): void {
    this.#claims = claims;
    this.events.beforeRelease(() => claims.settled());
    this.events.onRelease((assignments) => claims.release(assignments));
  }

  /** Adds reasons to the health report. */
  addNotes(note: () => readonly string[]): void {
    this.#notes.push(note);
  }

  /** This member has the partition, and it is not about to go. */
  holds(assignment: PartitionAssignment): boolean {
    return this.#ledgers.holds(assignment) && (this.phase === "connecting" || this.phase === "running");
  }

  /** A batch was taken. */
  taken(): void {
    this.#lastProgressAt = this.#options.clock.wallMs();
  }

  /** A step of the work has ended. An attempt that failed is none: otherwise work that fails again and again would look as if it went on. */
  progress(): void {
    const { progress } = this.#counters;
    if (progress !== this.#seenProgress) {
      this.#seenProgress = progress;
      this.#lastProgressAt = this.#options.clock.wallMs();
    }
  }

  health(): Health {
    return reportHealth({
      state: this.#state,
      held: this.#ledgers.held(),
      lastProgressAt: this.#lastProgressAt,
      counts: this.#counters.snapshot(),
      blockedBy: this.#dispatcher?.blockedBy() ?? null,
      lastLoss: this.events.lastLoss,
      waits: this.#waits.report(),
      suspicions: this.#watch.suspicions,
      notes: this.#notes.flatMap((note) => note()),
      stuckAfterMs: this.#options.health.stuckAfterMs,
      startsAtLatest: this.#options.from === "latest" && this.#options.driver.capabilities.reportsStart === true,
    });
  }

  /** Moves a partition that is held to another offset. */
  seek(position: SeekPosition): Promise<void> {
    return seekTo(position, {
      session: this.phase === "running" ? this.#connection.session : undefined,
      ledgers: this.#ledgers,
      letGo: (assignment) => this.events.revoked([assignment], "revoked"),
      commit: () => this.#committer.commit(),
    });
  }

  /**
   * If a log ends below what was handled, the consumer halts: the log does not hold what was read. Otherwise connections are replaced, once for
   * all partitions. Not for one partition that nobody answers for: the others are answered for, and would lose their connections for a leader that
   * is away.
   */
  #suspect(suspicions: readonly Suspicion[]): void {
    const { logger, groupId } = this.#options;
    for (const reason of suspicionTexts(suspicions, this.#waits.report().length > 0)) {
      logger.warn({ reason }, "the consumer may be stuck");
    }
    suspicions.forEach((suspicion) => publish("suspicion", () => ({ groupId, reason: suspicionText(suspicion) })));
    const truncated = suspicions.find(({ kind }) => kind === "truncated");
    const silent = suspicions.find(({ kind, assignment }) => kind === "stuck" || (kind === "unreachable" && assignment === null));
    if (truncated !== undefined) {
      const checkpoint =
        this.#claims === undefined ? "" : ", and the checkpoint of each sink, because a sink starts from its own checkpoint";
      const found = suspicionText(truncated);
      this.fail(new ConsumerError("log-truncated", `${found}; decide where to go on, and set the group's offset${checkpoint}`));
    } else if (silent !== undefined) {
      this.#connection.session?.reconnect?.(suspicionText(silent));
    }
  }

  /** The client need not fetch what is at work, paused, or being claimed by a sink. */
  #watched({ assignment, ledger, startedAt, isLocated }: HeldPartition): WatchedPartition {
    const isAtWork = ledger.inFlight > 0 || this.#pauses.isPaused(assignment) || this.#dispatcher?.hasWork(assignment) === true;
    return { assignment, handledTo: ledger.watermark, startedAt: isLocated ? startedAt : null, isAtWork };
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
        this.#connect();
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
        this.lease.close();
        this.#cancelOverdue?.();
        this.#stopped.open();
        return;
    }
  }

  #connect(): void {
    const { delivery } = this.#options;
    const claims = this.#claims;
    this.#connection.join({
      sink: this.events,
      startAt: claims === undefined ? undefined : this.#pauses.whileAsked((assignments) => claims.startAt(assignments)),
      over: this.#closing.opened,
      isOver: () => this.phase !== "connecting",
      joined: (session) => {
        this.#committer.start(session, delivery.commitIntervalMs);
        this.#watch.start(session);
        this.#dispatch({ type: "connected" });
      },
      failed: (error) => this.events.failed(error),
    });
  }

  async #drain(): Promise<void> {
    const { shutdownTimeoutMs, clock, logger } = this.#options;
    const how = this.#state.error === null && !this.lease.isOver ? "finish" : "fence";
    const drained = (this.#dispatcher?.drain(how) ?? Promise.resolve()).then(() => {
      this.#isCommittingLast = true;
      return this.#committer.commit();
    });
    // A handler that awaits stop() waits for itself. It is told at once what to do, and not only at the deadline.
    const cancelWarning = clock.after(slowStopMs, () => {
      this.#isSlowStop = true;
      logger.warn({ shutdownTimeoutMs }, this.#slowStopText(slowStopMs));
    });
    const isDrained = await this.#drainedInTime(drained);
    cancelWarning();
    if (isDrained) {
      this.#dispatch({ type: "drained" });
    } else {
      this.force(this.#slowStopText(shutdownTimeoutMs));
    }
  }

  #slowStopText(afterMs: number): string {
    const atWork = stillAtWork(this.#dispatcher?.atWork() ?? [], this.#isStoppedByCaller);
    const waited = this.#isCommittingLast
      ? " (the brokers have not answered the commit of what was handled)"
      : stillWaitedFor(this.#waits.report());
    const what = atWork === "" ? waited : atWork;
    return `the stop took longer than ${afterMs} ms${what}`;
  }

  async #close(): Promise<void> {
    const { logger, driver, clock } = this.#options;
    const deadline = new Deadline(clock, this.#closeMs);
    this.#closingDeadline = deadline;
    if (!(await this.#connection.stopJoining(deadline.leftMs))) {
      this.#connection.abandon(this.#closeMs);
    }
    this.#watch.stop();
    this.#committer.stop();
    const lastWork = Promise.all([this.#committer.commit(), this.events.readyToRelease()]);
    await settledWithin(lastWork, deadline.leftMs / 2, clock, this.#overdue.opened); // the group must hear of the leave, too
    const closeMs = deadline.leftMs;
    if (!(await this.#connection.leave(closeMs))) {
      logger.warn({ driver: driver.name, closeMs }, "the driver did not close in time");
    }
    this.events.release([...this.#ledgers.held()].map(({ assignment }) => assignment));
    this.#dispatch({ type: "closed" });
  }

  /** Ends with the closing phase, too: the timer of a drain that nobody waits for would keep the process alive. */
  #drainedInTime(drained: Promise<unknown>): Promise<boolean> {
    return this.#settledWithin(this.#closing.orOpened(drained), this.#options.shutdownTimeoutMs);
  }

  #cannotWrite(): ConsumerError {
    return new ConsumerError(
      "unsupported-by-driver",
      `expected a session of the ${this.#options.driver.name} driver that can write, found none`,
    );
  }

  #settledWithin(work: Promise<unknown>, timeoutMs: number): Promise<boolean> {
    return settledWithin(work, timeoutMs, this.#options.clock);
  }
}
