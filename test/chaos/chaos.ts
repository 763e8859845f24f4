/** Real processes on a real Kafka, disturbed by a seed; the oracle is what they have written down. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pass } from "node:timers/promises";
import type { ChildProcess } from "node:child_process";
import type { RunningKafka } from "../../scripts/stack/kafka.mjs";
import { Random } from "../fuzz/random.ts";
import {
  type Disturbance,
  expulsions,
  type Handled,
  judge,
  placeOf,
  type Produced,
  sessionMs,
  uncovered,
  type Verdict,
  zombies,
} from "./audit.ts";
import { Members } from "./members.ts";
import { startProxiedKafka } from "./proxied-kafka.ts";
import { groupId, RowWriter, rowType, topic } from "./row-writer.ts";
import { SmallRegistry } from "./small-registry.ts";
import { StallWatch } from "./stall-watch.ts";
import type { TcpProxy } from "./tcp-proxy.ts";
import { Trials } from "./trials.ts";

export interface ChaosOptions {
  readonly seed: number;
  readonly minutes: number;
  /** Goes on until there were so many kills, also beyond its time. */
  readonly minKills?: number;
  readonly log?: (line: string) => void;
  /** Options of the consumers under test, over the defaults. */
  readonly consumer?: Readonly<Record<string, unknown>>;
  /** Of a round; all that there are without it. */
  readonly faults?: readonly Fault[];
  /** The name of a bug that is planted into the members. */
  readonly bug?: string;
}

export interface ChaosReport extends Verdict {
  readonly seed: number;
  readonly produced: number;
  readonly disturbances: Readonly<Record<string, number>>;
  /** Of the kills, how many hit with work in flight that was not committed. */
  readonly killsMidWork: number;
  /** How often the broker took a member out of the group. */
  readonly expulsions: number;
  /** Of the freezes, how many the group did not wait for: others had the partitions when the process went on. */
  readonly freezesOutlasted: number;
  /** Of the records that were held, how many were held at a member that had other partitions to go on with. */
  readonly holdsBesideOthers: number;
  /** Of the records that were held, for how many one member waited so long that its health had to tell of it. */
  readonly holdsJudged: number;
  /** How often a member lost partitions with work under way, by its own word. */
  readonly losses: number;
  /** How often the machine stood still. */
  readonly stalls: number;
}

/** Of a stop: twice the consumer's own deadline, for work in flight and then for the driver, and something for a busy machine. */
const deadlineMs = 15_000;

/** For a session to run out, a rebalance, and something for a busy machine. */
const quietMs = 60_000;

/** After a session has run out, partitions are another member's by then. */
const maxRebalanceMs = 8_000;

/** A run goes on for so long after its time, if what it is for has not come up. */
const maxExtraMs = 120_000;

/** A round of them, in an order that the seed draws, and then a calm. */
export const faults = [
  "kill",
  "kill",
  "kill",
  "kill",
  "kill without a registry",
  "freeze",
  "cut",
  "black-hole",
  "dead connections",
  "hold",
  "storm",
  "slow",
  "broker-crash",
  "restart",
] as const;

export type Fault = (typeof faults)[number];

export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const { dir, kafka, proxy, stop } = await startProxiedKafka();
  const registry = await SmallRegistry.listen(JSON.stringify(rowType.schema()));
  const scene = new Scene(dir, kafka, proxy, registry, options);
  try {
    return await scene.play();
  } finally {
    scene.close();
    registry.close();
    await stop();
  }
}

class Scene {
  readonly #dir: string;
  readonly #options: ChaosOptions;
  readonly #random: Random;
  readonly #kafka: RunningKafka;
  readonly #proxy: TcpProxy;
  readonly #registry: SmallRegistry;
  readonly #writer: RowWriter;
  readonly #members: Members;
  readonly #trials: Trials;
  readonly #stallWatch: StallWatch = new StallWatch();
  readonly #disturbances: Disturbance[] = [];
  readonly #counts: Record<string, number> = {};
  readonly #violations: string[] = [];
  /** What is handled, up to a line of the audit. */
  readonly #places = new Set<string>();
  #checkedLines = 0;
  #produced: readonly Produced[] = [];
  #kills = 0;
  #killsMidWork = 0;
  #freezesOutlasted = 0;

  constructor(dir: string, kafka: RunningKafka, proxy: TcpProxy, registry: SmallRegistry, options: ChaosOptions) {
    this.#dir = dir;
    this.#registry = registry;
    this.#options = options;
    this.#random = new Random(options.seed);
    this.#kafka = kafka;
    this.#proxy = proxy;
    this.#writer = new RowWriter(kafka.brokers, options.seed + 1);
    this.#members = new Members({
      dir,
      config: {
        brokers: `127.0.0.1:${proxy.port}`,
        topic,
        groupId,
        registry: { url: registry.url, timeoutMs: 1_000 },
        failure: { retry: { attempts: 10_000, initialDelayMs: 50, maxDelayMs: 200 } },
        health: { stuckAfterMs: 5_000, lagIntervalMs: 500 },
        delayMs: 2,
        ...(options.bug !== undefined && { bug: options.bug }),
        ...options.consumer,
      },
      log: (line) => options.log?.(line),
      gaveUp: () => this.#gaveUp(),
    });
    const violate = (violation: string): void => void this.#violations.push(violation);
    this.#trials = new Trials({ members: this.#members, writer: this.#writer, proxy, registry, random: this.#random, violate });
  }

  async play(): Promise<ChaosReport> {
    await this.#writer.createTopic();
    const writing = this.#writer.writeUntilStopped();
    writing.catch(() => {}); // awaited below
    this.#members.join();
    this.#members.join();
    await this.#untilHandled(200);
    const endAt = performance.now() + this.#options.minutes * 60_000;
    const wanted = this.#options.faults ?? faults;
    const unproved = (): readonly Fault[] => {
      const holds = Math.min(this.#trials.holdsJudged, this.#trials.holdsBesideOthers);
      return wanted.filter((fault) => (fault === "freeze" && this.#freezesOutlasted === 0) || (fault === "hold" && holds === 0));
    };
    const isDue = (): boolean => {
      const overMs = performance.now() - endAt;
      return overMs < 0 || this.#kills < (this.#options.minKills ?? 0) || (overMs < maxExtraMs && unproved().length > 0);
    };
    for (let round = this.#random.shuffled(wanted); isDue(); ) {
      if (round.length === 0) {
        round = this.#random.shuffled(wanted);
        await pass(sessionMs + 2_000); // what comes again after this has no excuse
      }
      const isExtra = performance.now() > endAt && this.#kills >= (this.#options.minKills ?? 0);
      const fault = isExtra ? this.#random.pick(unproved()) : (round.pop() as Fault);
      this.#options.log?.(`${fault} at ${this.#members.handled().length} handled`);
      await this.#disturb(fault);
      await this.#checkCommits();
      await pass(this.#random.below(600));
    }
    this.#writer.stop();
    await writing;
    this.#produced = await this.#writer.readBack();
    this.#options.log?.(`quiet: ${this.#produced.length} written`);
    await this.#quiet();
    this.#options.log?.("stopping");
    for (const member of [...this.#members.running]) {
      await this.#leave(member);
    }
    return this.#report();
  }

  close(): void {
    this.#stallWatch.close();
    this.#writer.stop();
    this.#members.close();
  }

  async #report(): Promise<ChaosReport> {
    const handled = this.#members.handled();
    const words = this.#members.words();
    const assigned = words.filter(({ kind }) => kind === "assigned");
    const losses = words.filter(({ kind }) => kind === "lost" || kind === "gave up");
    const expelledAtMs = expulsions(readFileSync(join(this.#dir, "kafka.log"), "utf8"), groupId);
    const verdict = judge(this.#produced, handled, this.#disturbances, expelledAtMs, losses, this.#stallWatch.stalls);
    await this.#checkCommits();
    return {
      ...verdict,
      violations: [...this.#violations, ...zombies(handled, assigned), ...verdict.violations],
      seed: this.#options.seed,
      produced: this.#produced.length,
      disturbances: this.#counts,
      killsMidWork: this.#killsMidWork,
      expulsions: expelledAtMs.length,
      freezesOutlasted: this.#freezesOutlasted,
      holdsBesideOthers: this.#trials.holdsBesideOthers,
      holdsJudged: this.#trials.holdsJudged,
      losses: losses.length,
      stalls: this.#stallWatch.stalls.length,
    };
  }

  async #disturb(fault: Fault): Promise<void> {
    this.#counts[fault] = (this.#counts[fault] ?? 0) + 1;
    switch (fault) {
      case "kill":
        return this.#kill();
      case "kill without a registry":
        return this.#killWithoutRegistry();
      case "freeze":
        return this.#freeze();
      case "slow":
        return this.#slowDown();
      case "cut":
        return this.#cutWhile(() => this.#shortly(() => this.#proxy.cut(), 300 + this.#random.below(2_500)));
      case "black-hole":
        return this.#cutWhile(() => this.#shortly(() => this.#proxy.swallow(), 1_000 + this.#random.below(4_000)));
      case "dead connections":
        return this.#cutWhile(() => this.#trials.killConnections());
      case "hold":
        return this.#trials.hold();
      case "storm":
        return this.#storm();
      case "broker-crash":
        return this.#crashBroker();
      case "restart":
        // A clean stop leaves nothing to come again: it is no disturbance.
        await this.#leave(this.#anyMember());
        this.#members.join();
    }
  }

  #anyMember(): ChildProcess {
    return this.#random.pick(this.#members.running);
  }

  async #crashBroker(): Promise<void> {
    const sinceMs = Date.now();
    await this.#kafka.crash();
    await pass(this.#random.below(500));
    await this.#kafka.startAgain();
    await this.#note("broker-crash", this.#lineCount(), sinceMs);
  }

  async #kill(): Promise<void> {
    const sinceMs = Date.now();
    await this.#members.kill(this.#anyMember());
    this.#kills++;
    const lines = [...this.#members.handled()]; // by now
    this.#members.join();
    const { committed } = await this.#note("kill", lines.length, sinceMs);
    this.#killsMidWork += lines.some(({ partition, offset }) => offset >= (committed.get(partition) ?? 0n)) ? 1 : 0;
  }

  /** Whoever takes its place cannot know the schema for a while: it must wait, and neither skip nor stop. */
  async #killWithoutRegistry(): Promise<void> {
    this.#registry.fail(this.#random.pick(["refuses", "hangs", "limits"] as const));
    await this.#kill();
    await pass(1_000 + this.#random.below(2_500));
    this.#registry.heal();
  }

  /** Its handlers take far longer for a while. */
  async #slowDown(): Promise<void> {
    // Of one that does not run its code yet, the signal would be the end.
    const running = new Set(this.#members.words().map(({ pid }) => pid));
    const able = this.#members.running.filter(({ pid }) => pid !== undefined && running.has(pid));
    if (able.length > 0) {
      this.#random.pick(able).kill("SIGUSR2");
    }
    await pass(1_500);
  }

  /** Members come and go faster than a rebalance takes. */
  async #storm(): Promise<void> {
    const sinceMs = Date.now();
    for (let i = 0; i < 4; i++) {
      const member = this.#members.join();
      await pass(300 + this.#random.below(700));
      await this.#leave(member);
    }
    await this.#note("storm", this.#lineCount(), sinceMs);
  }

  /** Longer than its session: when it goes on, its partitions belong to others. */
  async #freeze(): Promise<void> {
    const member = this.#anyMember();
    const sinceMs = Date.now();
    member.kill("SIGSTOP");
    await this.#note("freeze", this.#lineCount(), sinceMs);
    await pass(sessionMs + 500 + this.#random.below(1_500));
    const isTaken = (): boolean =>
      this.#members
        .words()
        .some(({ kind, atMs, pid, partitions }) => kind === "assigned" && atMs > sinceMs && pid !== member.pid && partitions.length > 0);
    // A rebalance takes longer on a busy machine.
    for (const untilMs = performance.now() + maxRebalanceMs; !isTaken() && performance.now() < untilMs; ) {
      await pass(100);
    }
    this.#freezesOutlasted += isTaken() ? 1 : 0;
    const untilMs = Date.now();
    member.kill("SIGCONT");
    const { pid } = member;
    await this.#note("freeze", this.#lineCount(), sinceMs, { untilMs, ...(pid !== undefined && { pid }) });
  }

  async #shortly(cut: () => void, forMs: number): Promise<void> {
    cut();
    await pass(forMs);
    this.#proxy.heal();
  }

  async #cutWhile(cut: () => Promise<void>): Promise<void> {
    const sinceMs = Date.now();
    await this.#note("cut", this.#lineCount(), sinceMs);
    await cut();
    await this.#note("cut", this.#lineCount(), sinceMs);
  }

  async #note(
    what: string,
    line: number,
    sinceMs: number,
    { untilMs = Date.now(), ...whose }: Partial<Pick<Disturbance, "untilMs" | "pid">> = {},
  ): Promise<Disturbance> {
    const disturbance = { what, line, sinceMs, untilMs, ...whose, committed: await this.#writer.committed() };
    this.#disturbances.push(disturbance);
    return disturbance;
  }

  /** What it had handled out of order comes again. */
  #gaveUp(): void {
    this.#counts["gave up"] = (this.#counts["gave up"] ?? 0) + 1;
    this.#note("gave up", this.#lineCount(), Date.now()).catch(() => {});
  }

  async #leave(member: ChildProcess): Promise<void> {
    const sinceMs = Date.now();
    const words = await this.#members.leave(member, deadlineMs);
    if (words !== null) {
      this.#violations.push(`a member was not gone ${deadlineMs} ms after SIGTERM; it said: ${words}`);
      await this.#note("stuck", this.#lineCount(), sinceMs);
    }
  }

  async #untilHandled(count: number): Promise<void> {
    const giveUpAt = performance.now() + 60_000;
    while (this.#lineCount() < count) {
      if (performance.now() > giveUpAt) {
        throw new Error(`only ${this.#lineCount()} of ${count} records were handled within a minute`);
      }
      await pass(50);
    }
  }

  /** After the last fault all must be handled and committed, without any help. */
  async #quiet(): Promise<void> {
    if (this.#members.running.length < 2) {
      this.#members.join();
    }
    let reached = -1n;
    let movedAt = performance.now();
    for (;;) {
      const committed = await this.#writer.committed();
      const ends = await this.#writer.ends();
      const behind = [...ends].filter(([partition, end]) => (committed.get(partition) ?? 0n) < end);
      if (behind.length === 0) {
        return;
      }
      // A slow machine may be far behind by now. What counts is that it goes on, in each partition.
      const min = behind.map(([partition]) => committed.get(partition) ?? 0n).reduce((a, b) => (a < b ? a : b));
      if (min !== reached) {
        reached = min;
        movedAt = performance.now();
      }
      if (performance.now() - movedAt > quietMs) {
        this.#options.log?.(JSON.stringify(this.#members.healths()));
        this.#violations.push(`nothing moved for ${quietMs} ms of quiet: committed ${[...committed].join(" ")}`);
        return;
      }
      await pass(200);
    }
  }

  async #checkCommits(): Promise<void> {
    const committed = await this.#writer.committed();
    const handled = this.#members.handled(); // read after: what is committed was handled before
    for (; this.#checkedLines < handled.length; this.#checkedLines++) {
      this.#places.add(placeOf(handled[this.#checkedLines] as Handled));
    }
    this.#violations.push(...uncovered(committed, this.#places).slice(0, 3));
  }

  #lineCount(): number {
    return this.#members.handled().length;
  }
}
