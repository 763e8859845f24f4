import { type Consumer, createConsumer, type DeliveryOptions, type Sink } from "@cdckit/consumer";
import { type MemoryMember, seededScheduler, type VirtualClock, virtualClock } from "@cdckit/testkit";
import { FatefulDecoder, type SimulatedEvent } from "./fateful-decoder.ts";
import { FatefulHandlers } from "./fateful-handlers.ts";
import type { Holding } from "./holding.ts";
import { LogChanges } from "./log-changes.ts";
import { Oracle } from "./oracle.ts";
import { calmFromMs, type Plan, planOf, stallMs, type Step } from "./plan.ts";
import type { PlantedBug } from "./planted-bugs.ts";
import { SinkStore } from "./sink-store.ts";
import { ReportedLosses } from "./reported-losses.ts";
import { WatchedBroker } from "./watched-broker.ts";
import { WatchedProcess } from "./watched-process.ts";
import { whyHalted } from "./why-halted.ts";

/** What a schedule came to. */
export interface Outcome {
  readonly plan: Plan;
  /** What must not have happened. */
  readonly violations: readonly string[];
  /** Everything was handled and committed; or it could not be, and the consumer has halted, or health is red. */
  readonly end: "done" | "halted" | "red";
  /** What it halted with, or what health says. */
  readonly why: string | null;
  readonly records: number;
  readonly kills: number;
  /** Of the kills, those that hit with work under way or uncommitted. */
  readonly killsMidWork: number;
  readonly joins: number;
  readonly faultsMet: number;
  /** Events that were handled again, each explained by a fault. */
  readonly repeats: number;
  readonly deadLetters: number;
}

/** Members notice a crash after so long. */
const sessionTimeoutMs = 30;
const restartAfterMs = 40;
/** From the last disturbance on, everything must be done within this. */
const patienceMs = 60_000;
const maxRestarts = 60;
/** While a partition is stalled, the others must be done within this; drains may wait for it until their deadline. */
const besideStallMs = 45_000;
/** What was disturbed may take so long to fail. */
const lingeringMs = 500;
/** Where everything is done, a stop has nothing to wait for. */
const idleStopMs = 500;
/** A process whose claim of a partition reaches the sink after its successor's fences that one off, until partitions move again. */
const isFencedByMistake = (reason: string): boolean => reason.includes("belongs to another member");

/** Runs the schedule of a seed: the whole runtime, in one process, in no time. */
export function simulate(seed: number, { bug = { name: "none" }, trace = null }: SimulateOptions = {}): Promise<Outcome> {
  return new Simulation(planOf(seed), bug, trace).run();
}

export interface SimulateOptions {
  readonly bug?: PlantedBug;
  /** Told of everything that happens. */
  readonly trace?: ((line: string) => void) | null;
}

class Simulation {
  readonly #plan: Plan;
  readonly #bug: PlantedBug;
  readonly #clock: VirtualClock;
  readonly #random: () => number;
  readonly #broker: WatchedBroker;
  readonly #oracle: Oracle;
  readonly #handlers: FatefulHandlers;
  readonly #log: LogChanges;
  /** Those that run, and those that have crashed. */
  readonly #processes = new Set<WatchedProcess>();
  readonly #running = new Set<Promise<void>>();
  /** Until when the registry, and what the sinks write to, are down. */
  #registryDownToMs = -1;
  #sinkDownToMs = -1;
  #isQuiet = false;
  #isOver = false;
  #haltedBy: string | null = null;
  #redBecause: string | null = null;
  #restarts = 0;
  #kills = 0;
  #killsMidWork = 0;
  #joins = 0;
  #calls = 0;
  #end = (): void => {};

  constructor(plan: Plan, bug: PlantedBug, trace: ((line: string) => void) | null) {
    this.#plan = plan;
    this.#bug = bug;
    const scheduler = seededScheduler(plan.seed);
    this.#random = scheduler.random;
    this.#clock = virtualClock({ scheduler, turnMs: plan.turnMs });
    const { rebalance, rebalanceTimeoutMs, sessionTimeoutMs } = plan;
    this.#broker = new WatchedBroker(
      { t: plan.partitions, dead: 1, out: 1 },
      { clock: this.#clock, rebalance, rebalanceTimeoutMs, sessionTimeoutMs },
    );
    this.#broker.expired = (member) => this.#expire(member);
    this.#oracle = new Oracle({
      plan,
      losses: new ReportedLosses(this.#broker),
      turn: () => this.#clock.turns,
      trace: trace === null ? null : (line) => trace(`${this.#clock.nowMs().toFixed(2)} ${line}`),
    });
    this.#broker.oracle = this.#oracle;
    this.#broker.hasOneIdOnly = bug.ignoresTopicIds === true;
    this.#handlers = new FatefulHandlers(plan, this.#oracle);
    const ended = (): void => this.#look();
    this.#log = new LogChanges({ broker: this.#broker, oracle: this.#oracle, clock: this.#clock, random: this.#random, ended });
    const sinks = { sink: 1, "two-sinks": 2, "sink-and-handlers": 1 }[plan.reads as string] ?? 0;
    for (let i = 0; i < sinks; i++) {
      const violate = (what: string): void => this.#oracle.violate(what);
      const applied = (): void => this.#look();
      const topicId = (): string => this.#broker.topicId("t");
      this.#oracle.sinks.push(new SinkStore({ name: `sink ${i}`, violate, applied, isUnfenced: bug.isUnfenced === true, topicId }));
    }
  }

  async run(): Promise<Outcome> {
    // Failures are thrown on purpose, by the thousand: their stacks would cost more than all the rest.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    try {
      return await this.#run();
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
    }
  }

  async #run(): Promise<Outcome> {
    const ended = new Promise<void>((resolve) => {
      this.#end = resolve;
    });
    this.#broker.committedAnything = () => this.#look();
    for (const step of this.#plan.steps) {
      this.#clock.after(step.atMs, () => this.#isOver || this.#take(step));
    }
    this.#clock.after(this.#plan.quietAtMs, () => this.#calmDown());
    this.#join();
    try {
      await this.#clock.run(ended);
      await this.#clock.run(this.#stopAll());
    } catch (error) {
      this.#oracle.violate((error as Error).message); // of the clock
    }
    const repeats = this.#oracle.judgeRepeats();
    if (this.#haltedBy === null && this.#redBecause === null) {
      this.#oracle.judgeLosses();
    }
    return {
      plan: this.#plan,
      violations: this.#oracle.violations,
      end: this.#redBecause !== null ? "red" : this.#haltedBy === null ? "done" : "halted",
      why: this.#redBecause ?? this.#haltedBy,
      records: this.#oracle.readable,
      kills: this.#kills,
      killsMidWork: this.#killsMidWork,
      joins: this.#joins,
      faultsMet: this.#broker.faults.met,
      repeats,
      deadLetters: Number(this.#broker.endOffset("dead", 0)),
    };
  }

  // What happens from outside.

  #take(step: Step): void {
    const group = this.#broker.group("g");
    const alive = this.#alive();
    const process = "who" in step ? alive[step.who % Math.max(1, alive.length)] : undefined;
    this.#oracle.note(() => `step: ${step.what}`);
    switch (step.what) {
      case "append":
        this.#log.append(step.records);
        return;
      case "transaction":
        this.#log.transact(step);
        return;
      case "join":
        this.#join();
        return;
      case "leave":
        void process?.stop();
        this.#joinIfAlone();
        return;
      case "replace-all":
        for (const one of alive) {
          void one.stop();
        }
        this.#clock.after(restartAfterMs, () => this.#join());
        return;
      case "crash":
        this.#crash(process);
        return;
      case "expire":
        void group.expire();
        return;
      case "bounce":
        for (const one of alive) {
          one.excuse("it was taken without waiting");
        }
        void group.bounce();
        return;
      case "freeze":
        process?.freeze(step.forMs);
        return;
      case "evict":
        this.#evict(process, step.forMs);
        return;
      case "fault":
        this.#clock.after(step.forMs, this.#broker.faults.inject(step.fault));
        return;
      case "registry-down":
        this.#registryDownToMs = Math.max(this.#registryDownToMs, this.#clock.nowMs() + step.forMs);
        return;
      case "sink-down":
        this.#sinkDownToMs = Math.max(this.#sinkDownToMs, this.#clock.nowMs() + step.forMs);
        return;
      case "retention":
        this.#log.deleteBefore(step.partition);
        return;
      case "downtime":
        for (const one of alive) {
          this.#crash(one);
        }
        this.#log.deleteBefore(step.partition);
        return;
      case "recreate":
        this.#log.recreate(step.records);
        return;
      case "compaction":
        this.#log.compact(step.partition);
        return;
    }
  }

  #crash(process: WatchedProcess | undefined): void {
    if (process === undefined) {
      return;
    }
    this.#kills++;
    this.#killsMidWork += process.isWorking ? 1 : 0;
    process.crash(sessionTimeoutMs);
    this.#joinIfAlone();
  }

  #expire(member: MemoryMember): void {
    for (const process of this.#processes) {
      if (process.member === member) {
        process.expire();
      }
    }
  }

  #evict(process: WatchedProcess | undefined, forMs: number): void {
    const group = this.#broker.group("g");
    if (process === undefined || process.member === null || !group.members.includes(process.member)) {
      return;
    }
    process.excuse("it went on without knowing that it was evicted");
    const readmit = group.evict(process.member);
    this.#clock.after(forMs, () => process.isDead || void readmit());
  }

  // Members.

  #alive(): readonly WatchedProcess[] {
    return [...this.#processes].filter(({ isDead, consumer }) => !isDead && (consumer?.health().live ?? false));
  }

  #joinIfAlone(): void {
    this.#clock.after(restartAfterMs, () => {
      if (this.#alive().every(({ consumer }) => consumer?.health().phase !== "running") && !this.#isOver) {
        this.#join();
      }
    });
  }

  #join(): void {
    if (this.#isOver) {
      return;
    }
    const {
      clock: world,
      plan,
      broker,
      oracle,
    } = {
      clock: this.#clock,
      plan: this.#plan,
      broker: this.#broker,
      oracle: this.#oracle,
    };
    const process = new WatchedProcess({ plan, clock: world, broker, oracle });
    const decoder = new FatefulDecoder({
      clock: process.clock,
      oracle,
      isRegistryDown: () => world.nowMs() < this.#registryDownToMs,
      holdingOf: ({ assignment }) => process.holdingOf(assignment),
      unknownForMs: plan.unknownForMs,
      storedAtMs: (id) => this.#log.storedAtMs(id),
      handedOut: plan.reads === "stream" ? (fact, holding) => process.isDead || oracle.handedOut(fact, holding) : null,
    });
    const tools = { clock: process.clock, plan, broker, factAt: oracle.factAt.bind(oracle), handle: this.#handlers.each(process) };
    const consumer = createConsumer({
      driver: this.#bug.driver?.(process.driver, tools) ?? process.driver,
      groupId: "g",
      topics: ["t"],
      decoder: this.#bug.decoder?.(decoder) ?? decoder,
      delivery: deliveryOf(plan),
      failure: plan.failure,
      shutdownTimeoutMs: plan.shutdownTimeoutMs,
      signals: false,
      clock: process.clock,
      random: this.#random,
    });
    process.consumer = consumer;
    this.#processes.add(process);
    this.#joins++;
    const running = this.#start(process, consumer).then(
      () => this.#stopped(process, null),
      (error: Error) => this.#stopped(process, error),
    );
    this.#running.add(running);
    void running.then(() => this.#running.delete(running));
  }

  #start(process: WatchedProcess, consumer: Consumer): Promise<void> {
    const stopInside = (): void => {
      if (++this.#calls === this.#plan.stopAtCall) {
        void process.stop();
        this.#joinIfAlone();
      }
    };
    const wrap = this.#bug.handler ?? ((handle) => handle);
    const { reads } = this.#plan;
    if (reads === "stream") {
      return this.#handlers.readAll(process, consumer, stopInside);
    }
    if (reads === "batches") {
      const batch = this.#handlers.batch(process);
      const call = wrap((events: readonly SimulatedEvent[]) => (stopInside(), batch(events)), process.clock);
      consumer.on("s.t", { batch: (events) => call(events as unknown as readonly SimulatedEvent[]) });
    } else if (reads === "handlers" || reads === "sink-and-handlers") {
      const each = this.#handlers.each(process);
      const call = wrap(([event]: readonly SimulatedEvent[]) => (stopInside(), event && each(event)), process.clock);
      const one = (event: unknown): void | Promise<void> => call([event as SimulatedEvent]);
      consumer.on("s.t", { row: one, truncate: one });
    }
    if (reads === "pipe") {
      const pipe = this.#handlers.pipe(process);
      consumer.pipe("s.t", (events) => (stopInside(), pipe(events as unknown as readonly SimulatedEvent[])));
    }
    for (const store of this.#oracle.sinks) {
      const sink = this.#sinkOf(process, store);
      consumer.to(this.#bug.sink?.(sink) ?? sink, { tables: ["s.t"] });
    }
    return consumer.run();
  }

  /** The near side of a sink: what it asks for takes a while, and may be done after the process has gone. */
  #sinkOf(process: WatchedProcess, store: SinkStore): Sink {
    const reach = async (): Promise<void> => {
      await this.#clock.yieldToEventLoop();
      if (this.#clock.nowMs() < this.#sinkDownToMs) {
        throw Object.assign(new Error("down"), { code: "ECONNREFUSED" });
      }
    };
    return {
      name: store.name,
      claim: (_groupId, assignments) =>
        process.whileAlive(
          reach()
            .then(() => process.whileAlive(Promise.resolve())) // what a connection that breaks has not done is not done
            .then(() => store.claim(assignments)),
        ),
      apply: (batch) => process.whileAlive(this.#handlers.apply(process, store, batch, reach)),
      close: () => Promise.resolve(),
    };
  }

  #stopped(process: WatchedProcess, error: Error | null): void {
    this.#processes.delete(process);
    if (error === null || process.isDead || this.#isOver) {
      return;
    }
    const isLingering = this.#clock.nowMs() <= calmFromMs(this.#plan) + lingeringMs;
    const why = whyHalted(error, { plan: this.#plan, oracle: this.#oracle, isLingering });
    if (why === "again" && ++this.#restarts <= maxRestarts) {
      this.#clock.after(restartAfterMs, () => this.#join());
    } else if (why === "stopped") {
      this.#joinIfAlone();
    } else {
      if (why === "again" || why === null) {
        this.#oracle.violate(`a consumer halted: ${error.message} (${String(error.cause)})`);
      }
      this.#haltedBy = why ?? error.message;
      this.#isOver = true;
      this.#end();
    }
  }

  // The end.

  #calmDown(): void {
    if (this.#isOver) {
      return;
    }
    this.#isQuiet = true;
    this.#broker.faults.clear();
    this.#joinIfAlone();
    if (this.#plan.stalledPartition === null) {
      this.#clock.after(patienceMs, () => this.#giveUp());
    } else {
      this.#clock.after(besideStallMs, () => this.#judgeStall(this.#plan.stalledPartition));
      this.#clock.after(stallMs + patienceMs, () => this.#giveUp());
    }
    this.#look();
  }

  /** While one partition waits, the others are done, and nobody asks for a restart. */
  #judgeStall(stalled: number | null): void {
    if (this.#isOver) {
      return;
    }
    const behind = this.#missing().filter((missing) => !missing.startsWith(`${stalled}:`));
    if (behind.length > 0 && !this.#isRebalanceHeldUpBy(stalled)) {
      this.#oracle.violate(`partition ${stalled} waits, and ${besideStallMs} ms later others are not done: ${behind.join(", ")}`);
    }
    for (const { consumer, isDead } of this.#processes) {
      const health = consumer?.health();
      if (!isDead && health?.phase === "running" && !health.live && !health.reasons.some(isFencedByMistake)) {
        this.#oracle.violate(`partition ${stalled} waits, and health asks for a restart: ${health.reasons.join("; ")}`);
      }
    }
  }

  /**
   * A rebalance waits for the drain of the stalled partition, until the deadline of that. Others may be given out only after it, and several
   * rebalances in a row wait as often.
   */
  #isRebalanceHeldUpBy(stalled: number | null): boolean {
    const isInTime = ({ goingSinceMs }: Holding): boolean =>
      goingSinceMs !== null && this.#clock.nowMs() - goingSinceMs <= this.#plan.shutdownTimeoutMs;
    return [...this.#processes].some(
      ({ isDead, holdings }) =>
        !isDead && [...holdings.values()].some((holding) => holding.assignment.partition === stalled && isInTime(holding)),
    );
  }

  /** Whether everything is done. */
  #look(): void {
    if (!this.#isQuiet || this.#isOver) {
      return;
    }
    if (this.#missing().length === 0) {
      this.#isOver = true;
      this.#end();
    }
  }

  /** Partitions that are not committed to their end, or whose end is still to come. */
  #missing(): string[] {
    const missing: string[] = [];
    for (let partition = 0; partition < this.#plan.partitions; partition++) {
      if (this.#oracle.isOpen(partition)) {
        missing.push(`${partition}: a transaction is open`);
        continue;
      }
      const end = this.#oracle.endOf(partition) ?? 0n;
      const committed = this.#broker.committedNow(partition);
      if ((committed ?? 0n) < end && !this.#oracle.isAppliedTo(partition, end)) {
        missing.push(`${partition}: ${committed} of ${end}`);
      }
    }
    return missing;
  }

  #giveUp(): void {
    this.#look(); // what was skipped is not missing, and no commit came that said so
    if (this.#isOver) {
      return;
    }
    this.#isOver = true;
    const reported = this.#alive().map(
      ({ consumer }) => `${consumer?.health().phase}: ${consumer?.health().reasons.join("; ") || "all is well"}`,
    );
    const missing = this.#missing().join(", ");
    if (reported.some(isFencedByMistake)) {
      this.#redBecause = reported.join(" | ");
      this.#end();
      return;
    }
    this.#oracle.violate(
      `not done ${patienceMs} ms after the last disturbance (${missing}); health says: ${reported.join(" | ") || "nothing"}`,
    );
    this.#end();
  }

  async #stopAll(): Promise<void> {
    const startedAtMs = this.#clock.nowMs();
    const living = [...this.#processes].filter(({ isDead }) => !isDead);
    await Promise.all(living.map(async ({ consumer }) => consumer?.stop()));
    const tookMs = this.#clock.nowMs() - startedAtMs;
    const isCalm = startedAtMs > calmFromMs(this.#plan) + lingeringMs || this.#plan.stalledPartition === null;
    const isDone = isCalm && this.#redBecause === null && this.#haltedBy === null && this.#missing().length === 0;
    if (tookMs > (isDone ? idleStopMs : 4 * this.#plan.shutdownTimeoutMs + 1_000)) {
      this.#oracle.violate(`the stop took ${tookMs} ms`);
    }
  }
}

/** A stream refuses what has no effect on it. */
function deliveryOf({ reads, delivery }: Plan): DeliveryOptions {
  const { concurrency: _concurrency, batch: _batch, maxInFlight: _maxInFlight, ...ofStream } = delivery;
  return reads === "stream" ? ofStream : delivery;
}
