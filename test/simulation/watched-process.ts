import type {
  Clock,
  Consumer,
  DriverSession,
  DriverSink,
  FetchedBatch,
  KafkaDriver,
  LogRange,
  OffsetCommit,
  OutgoingRecord,
  PartitionAssignment,
  Subscription,
} from "@cdckit/consumer";
import { memory, type MemoryBroker, type MemoryMember, type VirtualClock } from "@cdckit/testkit";
import { Holding } from "./holding.ts";
import { type Oracle, placeOf } from "./oracle.ts";
import { calmFromMs, type Plan } from "./plan.ts";

export interface WatchedProcessParts {
  readonly plan: Plan;
  readonly clock: VirtualClock;
  readonly broker: MemoryBroker;
  readonly oracle: Oracle;
}

/** More than records are skipped. */
const recreationFactor = 1e6;
/** Where nothing is disturbed any more, a drain comes to its end so soon after the last call of a handler or a sink: only one that hangs takes longer. */
const drainPatienceMs = 500;
/**
 * And within this with what is under way. That is one call at least, and where a batch is to blame many: it is tried as a whole and then
 * record by record, each as often as the policy has it, and the drain promises to wait for all of that.
 */
const workPatienceMs = 4 * drainPatienceMs;
/** A stop waits for its own drain, and for those of others before it has left the group. */
const stopPatienceMs = 4 * drainPatienceMs;

/**
 * What a process is to the rest of the world: its clock and its connection to the broker. When it has crashed, nothing comes in or goes
 * out any more, and no timer fires. Whatever passes through the port is told to the oracle.
 */
export class WatchedProcess {
  /** The process' own time: it stands still for ever once the process has crashed. */
  readonly clock: Clock;
  readonly driver: KafkaDriver;
  readonly holdings: Map<PartitionAssignment, Holding> = new Map<PartitionAssignment, Holding>();
  /** Set by who runs it. */
  consumer: Consumer | null = null;
  readonly #parts: WatchedProcessParts;
  #session: MemoryMember | null = null;
  #isDead = false;
  /** What has not come in since the process was frozen; null where it is not. */
  #frozen: (() => void)[] | null = null;
  /** The group has gone on while it was frozen. */
  #isExpired = false;
  #isClosed = false;
  #bury = (): void => {};
  readonly #buried: Promise<void>;

  constructor(parts: WatchedProcessParts) {
    this.#parts = parts;
    const { clock } = parts;
    this.#buried = new Promise((resolve) => {
      this.#bury = resolve;
    });
    this.clock = {
      nowMs: () => clock.nowMs(),
      wallMs: () => clock.wallMs(),
      after: (delayMs, call) => this.#after(delayMs, call),
      yieldToEventLoop: () => this.whileAlive(clock.yieldToEventLoop()),
    };
    this.driver = this.#watchedDriver();
  }

  /** As SIGSTOP does, and SIGCONT so much later: nothing comes in or goes out, no timer fires, and all of it at once when it goes on. */
  freeze(forMs: number): void {
    if (this.#isDead || this.#frozen !== null) {
      return;
    }
    this.#parts.oracle.note(() => `${[...this.holdings.values()].join()} are frozen`);
    this.#frozen = [];
    this.excuse("its process was frozen");
    this.#parts.clock.after(forMs, () => {
      const missed = this.#frozen ?? [];
      this.#frozen = null;
      this.excuse("its process was frozen");
      for (const call of missed) {
        this.#enter(call);
      }
    });
  }

  /** The group goes on without the member: its session has run out. */
  expire(): void {
    this.#isExpired = this.#frozen !== null;
    this.excuse("its session ran out");
    for (const holding of this.holdings.values()) {
      holding.expire();
    }
  }

  /** Something comes in: at once, when the process goes on, or never. */
  #enter(call: () => void): void {
    if (this.#frozen !== null) {
      this.#frozen.push(call);
    } else if (!this.#isDead) {
      call();
    }
  }

  /** Asked of the process, which hears of it when it goes on: after what was told to it before. */
  #asked<T>(work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => this.#enter(() => void work().then(resolve, reject)));
  }

  #after(delayMs: number, call: () => void): () => void {
    let isCancelled = false;
    const cancel = this.#parts.clock.after(delayMs, () => this.#enter(() => isCancelled || call()));
    return () => {
      isCancelled = true;
      cancel();
    };
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  /** The member of the group, as the broker knows it; null before it joined. */
  get member(): MemoryMember | null {
    return this.#session;
  }

  get isWorking(): boolean {
    return [...this.holdings.values()].some(({ active, isCommitOpen }) => active > 0 || isCommitOpen);
  }

  /** As a signal does. */
  async stop(): Promise<void> {
    const askedAtMs = this.#parts.clock.nowMs();
    await this.consumer?.stop();
    this.#refuseHanging("a stop", askedAtMs, stopPatienceMs);
  }

  /** Everything that it does from here on is in vain. The group goes on without it when its session has run out. */
  crash(sessionTimeoutMs: number): void {
    this.#isDead = true;
    this.excuse("its process crashed");
    for (const holding of this.holdings.values()) {
      holding.end();
    }
    this.#parts.clock.after(sessionTimeoutMs, () => {
      this.#leaveGroup();
      this.#bury();
    });
  }

  /** What it holds now may be handled again by others. */
  excuse(why: string): void {
    for (const holding of this.holdings.values()) {
      if (holding.state !== "gone") {
        holding.excuseBy(why);
      }
    }
  }

  /** As the promise does, and never where the process has crashed by then. */
  whileAlive<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      work.then(
        (value) => this.#enter(() => resolve(value)),
        (error: unknown) => this.#enter(() => reject(error as Error)),
      );
    });
  }

  /** As the coordinator removes a member whose session has run out. */
  #leaveGroup(): void {
    void this.#session?.close(1);
  }

  #watchedDriver(): KafkaDriver {
    const { broker, plan } = this.#parts;
    const inner = memory({
      broker,
      clock: this.clock,
      maxBatchRecords: plan.maxBatchRecords,
      partitionsConsumedConcurrently: plan.workers,
    });
    return {
      name: inner.name,
      capabilities: inner.capabilities,
      connect: (subscription, sink) => this.whileAlive(this.#connect(inner, subscription, sink)),
    };
  }

  async #connect(inner: KafkaDriver, subscription: Subscription, sink: DriverSink): Promise<DriverSession> {
    const { startAt } = subscription;
    const watched: Subscription =
      startAt === undefined
        ? subscription
        : { ...subscription, startAt: (assignments) => this.whileAlive(this.#asked(() => startAt(assignments))) };
    const connecting = inner.connect(watched, this.#watchedSink(sink)).catch((error: unknown) => {
      this.#parts.oracle.losses.reported(error);
      throw error;
    });
    const session = (await connecting) as MemoryMember; // what its driver connects
    this.#session = session;
    if (this.#isDead) {
      this.#leaveGroup();
    }
    return this.#watchedSession(session);
  }

  #watchedSink(sink: DriverSink): DriverSink {
    return {
      assigned: (assignments) => {
        this.#enter(() => {
          for (const assignment of assignments) {
            const holding = new Holding(assignment);
            this.#parts.oracle.assigned(holding);
            this.holdings.set(assignment, holding);
          }
          this.#parts.oracle.note(() => `${[...this.holdings.values()].join()} are held`);
          sink.assigned(assignments);
        });
      },
      revoked: (assignments, how) => {
        if (this.#frozen !== null) {
          return this.#revokedWhileFrozen(sink, assignments, how);
        }
        return this.#isDead ? (how === "lost" ? Promise.resolve() : this.#buried) : this.#revoked(sink, assignments, how);
      },
      batch: (batch) => {
        if (this.#frozen !== null) {
          return Promise.race([
            this.#buried,
            new Promise<void>((done) => this.#enter(() => void (this.#batch(sink, batch) ?? Promise.resolve()).then(done))),
          ]);
        }
        return this.#isDead ? this.#buried : this.#batch(sink, batch);
      },
      acknowledged: (validForMs) => {
        const { clock } = this.#parts;
        const reportedAtMs = clock.nowMs();
        this.#enter(() => {
          this.#isExpired = false;
          sink.acknowledged?.(validForMs - (clock.nowMs() - reportedAtMs));
        });
      },
      skipped: (assignment, lost, resumeOffset) => {
        if (!this.#parts.oracle.losses.isGone(lost)) {
          this.#parts.oracle.violate(`${assignment.partition}:${lost.firstMissing} is told to be gone, and is not`);
        }
        this.#enter(() => {
          const from = lost.recreated === undefined ? lost.firstMissing : lost.firstAvailable;
          const reportedBefore = this.#lostOffsets();
          this.#parts.oracle.skipped(assignment.partition, from, resumeOffset);
          sink.skipped?.(assignment, lost, resumeOffset);
          if (
            this.#lostOffsets() - reportedBefore !==
            Number(resumeOffset - from) + (lost.recreated === undefined ? 0 : recreationFactor)
          ) {
            this.#parts.oracle.violate(`${assignment.partition}:${lost.firstMissing} to ${resumeOffset - 1n} are skipped in silence`);
          }
        });
      },
      failed: (error) => {
        this.#parts.oracle.losses.reported(error);
        this.#enter(() => sink.failed(error));
      },
    };
  }

  /** What health tells, recreated topics with it. */
  #lostOffsets(): number {
    const { lostOffsets, recreated } = this.consumer?.health().counts ?? { lostOffsets: 0, recreated: 0 };
    return lostOffsets + recreated * recreationFactor;
  }

  /** The group waits no longer than a session: then it goes on, and the process hears of it when it does. */
  #revokedWhileFrozen(sink: DriverSink, assignments: readonly PartitionAssignment[], how: "revoked" | "lost"): Promise<void> {
    const { clock, plan } = this.#parts;
    return new Promise((resolve) => {
      let isLate = how === "lost";
      let isHeard = false;
      clock.after(plan.sessionTimeoutMs, () => {
        isLate = true;
        if (!isHeard) {
          resolve(); // a drain that has begun is waited for as any other
        }
      });
      this.#enter(() => {
        isHeard = true;
        void this.#revoked(sink, assignments, isLate || this.#isExpired ? "lost" : "revoked").then(resolve);
      });
      void this.#buried.then(resolve);
    });
  }

  async #revoked(sink: DriverSink, assignments: readonly PartitionAssignment[], how: "revoked" | "lost"): Promise<void> {
    const { clock, plan } = this.#parts;
    const going = assignments.map((assignment) => this.holdingOf(assignment));
    for (const holding of going) {
      holding.state = "going";
      holding.goingSinceMs ??= clock.nowMs();
      if (how === "lost") {
        holding.excuseBy("it was lost");
      }
    }
    const askedAtMs = clock.nowMs();
    this.#parts.oracle.note(() => `${going.join()} are ${how}`);
    const done = sink.revoked(assignments, how);
    const end = (): void => {
      const tookMs = clock.nowMs() - askedAtMs;
      this.#parts.oracle.note(() => `${going.join()} are gone; health says: ${this.consumer?.health().reasons.join("; ")}`);
      if (this.consumer?.health().live !== true) {
        this.excuse("its consumer halted");
      }
      for (const holding of going) {
        if (tookMs >= Math.min(plan.shutdownTimeoutMs, plan.rebalanceTimeoutMs)) {
          holding.excuseBy("its drain took too long");
        }
        holding.end();
        this.holdings.delete(holding.assignment);
      }
    };
    if (how === "lost") {
      end();
    }
    await Promise.race([done, this.#buried]);
    end();
    const workedAtMs = Math.max(askedAtMs, ...going.map(({ workedAtMs: atMs }) => atMs ?? askedAtMs));
    this.#refuseHanging(`the end of the drain of ${going.join()}`, workedAtMs, drainPatienceMs);
    this.#refuseHanging(`the drain of ${going.join()}`, askedAtMs, workPatienceMs);
  }

  #refuseHanging(what: string, sinceMs: number, patienceMs: number): void {
    const { clock, plan, oracle } = this.#parts;
    const calmMs = clock.nowMs() - Math.max(sinceMs, calmFromMs(plan));
    if (calmMs > patienceMs && !this.#isDead) {
      oracle.violate(`${what} took ${Math.round(calmMs)} ms in which nothing was disturbed`);
    }
  }

  #batch(sink: DriverSink, batch: FetchedBatch): Promise<void> | undefined {
    const { oracle, plan } = this.#parts;
    const { maxInFlightBytes } = plan.delivery;
    const openBytes = maxInFlightBytes === undefined ? 0 : oracle.openBytes(this.holdings.values());
    const takes = (): boolean => this.consumer?.health().phase === "running"; // what is handed over besides is not taken
    if (
      maxInFlightBytes !== undefined &&
      openBytes > maxInFlightBytes + (plan.workers + plan.partitions) * plan.maxBatchRecords * 5 &&
      takes()
    ) {
      oracle.violate(`${openBytes} bytes are in memory, and ${maxInFlightBytes} may be`);
    }
    oracle.batchHanded(this.holdingOf(batch.assignment), batch, takes);
    const ready = sink.batch(batch);
    return ready === undefined ? undefined : Promise.race([ready, this.#buried]);
  }

  /** One that is not known, and so not held, where the process does not hold it. */
  holdingOf(assignment: PartitionAssignment): Holding {
    const known = this.holdings.get(assignment);
    if (known !== undefined) {
      return known;
    }
    const stray = new Holding(assignment);
    stray.end();
    return stray;
  }

  #watchedSession(session: MemoryMember): DriverSession {
    return {
      commit: (offsets) => (this.#isDead ? this.#never() : this.whileAlive(this.#commit(session, offsets))),
      transact: (records, offsets) => (this.#isDead ? this.#never() : this.whileAlive(this.#transact(session, records, offsets))),
      send: (records) => (this.#isDead ? this.#never() : this.whileAlive(this.#send(session, records))),
      pause: (assignments) => this.#isDead || session.pause(assignments),
      resume: (assignments) => this.#isDead || session.resume(assignments),
      ranges: (assignments) => (this.#isDead ? this.#never() : this.whileAlive(this.#ranges(session, assignments))),
      close: (deadlineMs) => (this.#isDead ? this.#never() : this.whileAlive(this.#close(session, deadlineMs))),
    };
  }

  #never(): Promise<never> {
    return new Promise(() => {});
  }

  async #commit(session: MemoryMember, offsets: readonly OffsetCommit[]): Promise<void> {
    const entries = offsets.map(({ assignment, offset }) => ({ holding: this.holdingOf(assignment), offset }));
    for (const { holding, offset } of entries) {
      if (!this.#isClosed) {
        this.#parts.oracle.commitAsked(holding, offset);
      }
      holding.isCommitOpen = true;
    }
    await session.commit(offsets);
    for (const { holding } of entries) {
      holding.isCommitOpen = false;
    }
  }

  async #transact(session: MemoryMember, records: readonly OutgoingRecord[], offsets: readonly OffsetCommit[]): Promise<void> {
    const { oracle } = this.#parts;
    const entries = offsets.map(({ assignment, offset }) => ({ holding: this.holdingOf(assignment), offset }));
    for (const { holding, offset } of entries) {
      oracle.transactionAsked(holding, offset);
    }
    await session.transact(records, offsets);
    for (const { holding, offset } of entries) {
      holding.asked = offset;
    }
  }

  #ranges(session: MemoryMember, assignments: readonly PartitionAssignment[]): Promise<readonly LogRange[]> {
    if (this.consumer?.health().phase === "stopped") {
      this.#parts.oracle.violate("a consumer that has stopped asks where the logs end");
    }
    return session.ranges(assignments);
  }

  /** Of those that the process holds of a partition, the latest that was handed the record: where two overlap, one may never get it. */
  #receiverOf(partition: number, offset: bigint): Holding | null {
    const held = [...this.holdings.values()].filter(({ assignment }) => assignment.partition === partition);
    return held.findLast(({ handed }) => handed.has(offset)) ?? null;
  }

  async #send(session: MemoryMember, records: readonly OutgoingRecord[]): Promise<void> {
    const { oracle } = this.#parts;
    const sent = records.map((record) => {
      const { partition, offset } = placeOf(record);
      return { record, holding: this.#receiverOf(partition, offset) };
    });
    for (const { record, holding } of sent) {
      oracle.deadLetterSent(holding, record);
    }
    await session.send(records);
    for (const { record, holding } of sent) {
      oracle.deadLetterReported(holding, record);
    }
  }

  #close(session: MemoryMember, deadlineMs: number): Promise<void> {
    this.#isClosed = true;
    if (this.consumer?.health().live !== true) {
      this.excuse("its consumer halted");
    }
    for (const holding of this.holdings.values()) {
      holding.end();
    }
    this.holdings.clear();
    return session.close(deadlineMs);
  }
}
