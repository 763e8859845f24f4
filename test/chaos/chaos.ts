/** Real processes on a real Kafka, disturbed by a seed; the oracle is what they have written down. */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as pass } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import avsc from "avsc";
import { type Admin, Kafka, logLevel, type Message, type Producer } from "kafkajs";
import type { RunningKafka } from "../../scripts/stack/kafka.mjs";
import { SmallRegistry } from "./small-registry.ts";
import { Random } from "../fuzz/random.ts";
import { type Disturbance, hearingMs, judge, parseAudit, placeOf, type Produced, uncovered, type Verdict } from "./audit.ts";
import { startProxiedKafka } from "./proxied-kafka.ts";
import type { TcpProxy } from "./tcp-proxy.ts";

export interface ChaosOptions {
  readonly seed: number;
  readonly minutes: number;
  /** Goes on until there were so many kills, also beyond its time. */
  readonly minKills?: number;
  readonly log?: (line: string) => void;
  /** Options of the consumers under test, over the defaults. */
  readonly consumer?: Readonly<Record<string, unknown>>;
}

export interface ChaosReport extends Verdict {
  readonly seed: number;
  readonly produced: number;
  readonly disturbances: Readonly<Record<string, number>>;
  /** Of the kills, how many hit with work in flight that was not committed. */
  readonly killsMidWork: number;
}

const partitions = 4;
const keys = 40;
const memberScript = fileURLToPath(new URL("./member.mjs", import.meta.url));

/** Of a stop: twice the consumer's own deadline, for work in flight and then for the driver, and something for a busy machine. */
const deadlineMs = 15_000;

/** For a session to run out, a rebalance, and something for a busy machine. */
const quietMs = 60_000;

/** A round of them, in an order that the seed draws, and then a calm. */
const faults = [
  "kill",
  "kill",
  "kill",
  "kill",
  "kill without a registry",
  "freeze",
  "cut",
  "black-hole",
  "swallow",
  "storm",
  "slow",
  "broker-crash",
  "restart",
] as const;

type Fault = (typeof faults)[number];

const rowType = avsc.Type.forSchema({
  type: "record",
  name: "Row",
  fields: [
    { name: "id", type: "int" },
    { name: "n", type: "int" },
  ],
});

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
  readonly #options: ChaosOptions;
  readonly #random: Random;
  readonly #audit: string;
  readonly #kafka: RunningKafka;
  readonly #proxy: TcpProxy;
  readonly #registry: SmallRegistry;
  readonly #client: Kafka;
  readonly #members: ChildProcess[] = [];
  /** What each member has last said. */
  readonly #words = new WeakMap<ChildProcess, string>();
  readonly #produced: Produced[] = [];
  readonly #disturbances: Disturbance[] = [];
  readonly #counts: Record<string, number> = {};
  readonly #violations: string[] = [];
  #producer: Producer | null = null;
  #kills = 0;
  #killsMidWork = 0;
  #isProducing = true;

  constructor(dir: string, kafka: RunningKafka, proxy: TcpProxy, registry: SmallRegistry, options: ChaosOptions) {
    this.#registry = registry;
    this.#options = options;
    this.#random = new Random(options.seed);
    this.#audit = join(dir, "audit.txt");
    writeFileSync(this.#audit, "");
    this.#kafka = kafka;
    this.#proxy = proxy;
    this.#client = new Kafka({ brokers: [kafka.brokers], logLevel: logLevel.NOTHING, retry: { retries: 3, initialRetryTime: 100 } });
  }

  async play(): Promise<ChaosReport> {
    await this.#ask((admin) => admin.createTopics({ topics: [{ topic: "rows", numPartitions: partitions }], waitForLeaders: true }));
    const producing = this.#produce();
    producing.catch(() => {}); // awaited below
    this.#join();
    this.#join();
    const endAt = performance.now() + this.#options.minutes * 60_000;
    await this.#untilHandled(200);
    for (let round = this.#random.shuffled(faults); performance.now() < endAt || this.#kills < (this.#options.minKills ?? 0); ) {
      if (round.length === 0) {
        round = this.#random.shuffled(faults);
        await pass(hearingMs + 2_000); // what comes again after this has no excuse
      }
      const fault = round.pop() as Fault;
      this.#options.log?.(`${fault} at ${this.#lines().length} handled`);
      await this.#disturb(fault);
      await this.#checkCommits();
      await pass(this.#random.below(600));
    }
    this.#isProducing = false;
    await producing;
    this.#options.log?.(`quiet: ${this.#produced.length} written`);
    await this.#quiet();
    this.#options.log?.("stopping");
    await this.#stopAll();
    const verdict = judge(this.#produced, this.#lines(), this.#disturbances);
    await this.#checkCommits();
    return {
      ...verdict,
      violations: [...this.#violations, ...verdict.violations],
      seed: this.#options.seed,
      produced: this.#produced.length,
      disturbances: this.#counts,
      killsMidWork: this.#killsMidWork,
    };
  }

  close(): void {
    this.#isProducing = false;
    for (const member of this.#members) {
      member.kill("SIGKILL");
    }
  }

  /** The broker is away at times: whoever asks it waits, and asks again. */
  async #ask<T>(what: (admin: Admin) => Promise<T>): Promise<T> {
    const giveUpAt = performance.now() + 60_000;
    for (;;) {
      const admin = this.#client.admin();
      try {
        await admin.connect();
        return await what(admin);
      } catch (error) {
        if (performance.now() > giveUpAt) {
          throw error;
        }
        await pass(200);
      } finally {
        await admin.disconnect().catch(() => {});
      }
    }
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
        return this.#cutFor(() => this.#proxy.cut(), 300 + this.#random.below(2_500));
      case "black-hole":
        return this.#cutFor(() => this.#proxy.swallow(), 1_000 + this.#random.below(4_000));
      case "swallow":
        // Nothing heals them: members must notice, and connect anew.
        return this.#cutFor(() => this.#proxy.swallowOld(), 12_000);
      case "storm":
        return this.#storm();
      case "broker-crash":
        return this.#crashBroker();
      case "restart":
        // A clean stop leaves nothing to come again: it is no disturbance.
        await this.#leave(this.#random.pick(this.#members));
        this.#join();
    }
  }

  async #crashBroker(): Promise<void> {
    const sinceMs = Date.now();
    await this.#kafka.crash();
    await pass(this.#random.below(500));
    await this.#kafka.startAgain();
    await this.#note("broker-crash", this.#lines().length, sinceMs);
  }

  async #kill(): Promise<void> {
    const sinceMs = Date.now();
    const member = this.#random.pick(this.#members);
    this.#forget(member);
    const ended = endOf(member);
    member.kill("SIGKILL");
    this.#kills++;
    await ended;
    const lines = this.#lines();
    this.#join();
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
    this.#random.pick(this.#members).kill("SIGUSR2");
    await pass(1_500);
  }

  /** Members come and go faster than a rebalance takes. */
  async #storm(): Promise<void> {
    const sinceMs = Date.now();
    for (let i = 0; i < 4; i++) {
      const member = this.#join();
      await pass(300 + this.#random.below(700));
      await this.#leave(member);
    }
    await this.#note("storm", this.#lines().length, sinceMs);
  }

  /** Longer than its session: when it goes on, its partitions belong to others. */
  async #freeze(): Promise<void> {
    const member = this.#random.pick(this.#members);
    const sinceMs = Date.now();
    member.kill("SIGSTOP");
    await this.#note("freeze", this.#lines().length, sinceMs);
    await pass(3_500 + this.#random.below(1_500));
    member.kill("SIGCONT");
    await this.#note("freeze", this.#lines().length, sinceMs);
  }

  async #cutFor(cut: () => void, forMs: number): Promise<void> {
    const sinceMs = Date.now();
    cut();
    await this.#note("cut", this.#lines().length, sinceMs);
    await pass(forMs);
    this.#proxy.heal();
    await this.#note("cut", this.#lines().length, sinceMs);
  }

  async #note(what: string, line: number, sinceMs: number): Promise<Disturbance> {
    const untilMs = Date.now();
    const disturbance = { what, line, sinceMs, untilMs, committed: await this.#committed() };
    this.#disturbances.push(disturbance);
    return disturbance;
  }

  async #produce(): Promise<void> {
    const random = new Random(this.#options.seed + 1);
    let id = 0;
    while (this.#isProducing) {
      const messages = Array.from({ length: 1 + random.below(60) }, () => {
        const key = random.below(keys);
        const value = Buffer.concat([Buffer.from([0, 0, 0, 0, 1]), rowType.toBuffer({ id: key, n: id++ })]);
        return { partition: key % partitions, key: JSON.stringify({ id: key }), value };
      });
      await this.#write(messages);
      await pass(40);
    }
    await this.#readBack();
  }

  /** Until it is there, perhaps twice: what counts is what the log holds. */
  async #write(messages: Message[]): Promise<void> {
    while (this.#isProducing) {
      this.#producer ??= this.#client.producer();
      try {
        await this.#producer.connect();
        await this.#producer.send({ topic: "rows", messages, acks: -1 });
        return;
      } catch {
        await this.#producer.disconnect().catch(() => {});
        this.#producer = null;
        await pass(200);
      }
    }
  }

  /** What is in the log is the truth, not what the producer thinks. */
  async #readBack(): Promise<void> {
    const consumer = new Kafka({ brokers: [this.#kafka.brokers], logLevel: logLevel.NOTHING }).consumer({ groupId: "truth" });
    await this.#producer?.disconnect();
    const ends = new Map(
      (await this.#ask((admin) => admin.fetchTopicOffsets("rows"))).map(({ partition, high }) => [partition, BigInt(high)]),
    );
    let missing = [...ends.values()].reduce((sum, end) => sum + end, 0n);
    await consumer.connect();
    await consumer.subscribe({ topics: ["rows"], fromBeginning: true });
    await new Promise<void>((resolve, reject) => {
      const eachMessage = async ({
        partition,
        message,
      }: {
        partition: number;
        message: { offset: string; key: Buffer | null };
      }): Promise<void> => {
        const { id } = JSON.parse(String(message.key)) as { id: number };
        this.#produced.push({ partition, offset: BigInt(message.offset), key: String(id) });
        missing--;
        if (missing === 0n) {
          resolve();
        }
      };
      consumer.run({ autoCommit: false, eachMessage }).catch(reject);
    });
    await consumer.disconnect();
  }

  #join(): ChildProcess {
    const member = spawn(
      process.execPath,
      [
        memberScript,
        JSON.stringify({
          brokers: `127.0.0.1:${this.#proxy.port}`,
          topic: "rows",
          groupId: "chaos",
          audit: this.#audit,
          registry: { url: this.#registry.url, timeoutMs: 1_000 },
          delayMs: 2,
          ...this.#options.consumer,
        }),
      ],
      { stdio: ["ignore", "ignore", "pipe"] },
    );
    member.stderr?.on("data", (text: Buffer) => {
      this.#words.set(member, String(text).trimEnd());
      this.#options.log?.(`member ${member.pid}: ${String(text).trimEnd()}`);
    });
    // One that gave up by itself (a broker that was away too long) is replaced, as an orchestrator would.
    member.once("exit", (code) => {
      if (this.#forget(member) && this.#isProducing) {
        this.#options.log?.(`a member ended by itself with ${code}`);
        this.#counts["gave up"] = (this.#counts["gave up"] ?? 0) + 1;
        // What it had handled out of order comes again.
        this.#note("gave up", this.#lines().length, Date.now()).catch(() => {});
        this.#join();
      }
    });
    this.#members.push(member);
    return member;
  }

  async #leave(member: ChildProcess): Promise<void> {
    if (!this.#forget(member)) {
      return;
    }
    const sinceMs = Date.now();
    const ended = endOf(member).then(() => true);
    member.kill("SIGTERM");
    if (!(await Promise.race([ended, pass(deadlineMs, false, { ref: false })]))) {
      this.#violations.push(`a member was not gone ${deadlineMs} ms after SIGTERM; it said: ${this.#words.get(member) ?? "nothing"}`);
      member.kill("SIGKILL");
      await ended;
      await this.#note("stuck", this.#lines().length, sinceMs);
    }
  }

  #forget(member: ChildProcess): boolean {
    const at = this.#members.indexOf(member);
    if (at !== -1) {
      this.#members.splice(at, 1);
    }
    return at !== -1;
  }

  async #stopAll(): Promise<void> {
    while (this.#members[0] !== undefined) {
      await this.#leave(this.#members[0]);
    }
  }

  async #untilHandled(count: number): Promise<void> {
    const giveUpAt = performance.now() + 60_000;
    while (this.#lines().length < count) {
      if (performance.now() > giveUpAt) {
        throw new Error(`only ${this.#lines().length} of ${count} records were handled within a minute`);
      }
      await pass(50);
    }
  }

  /** After the last fault all must be handled and committed, without any help. */
  async #quiet(): Promise<void> {
    if (this.#members.length < 2) {
      this.#join();
    }
    let reached = -1n;
    let movedAt = performance.now();
    for (;;) {
      const committed = await this.#committed();
      const ends = await this.#ask((admin) => admin.fetchTopicOffsets("rows"));
      if (ends.every(({ partition, high }) => (committed.get(partition) ?? 0n) === BigInt(high))) {
        return;
      }
      // A slow machine may be far behind by now. What counts is that it goes on, in each partition.
      const behind = ends.filter(({ partition, high }) => (committed.get(partition) ?? 0n) < BigInt(high));
      const min = behind.map(({ partition }) => committed.get(partition) ?? 0n).reduce((a, b) => (a < b ? a : b));
      if (min !== reached) {
        reached = min;
        movedAt = performance.now();
      }
      if (performance.now() - movedAt > quietMs) {
        this.#violations.push(`nothing moved for ${quietMs} ms of quiet: committed ${[...committed].join(" ")}`);
        return;
      }
      await pass(200);
    }
  }

  async #checkCommits(): Promise<void> {
    const committed = await this.#committed();
    const handled = new Set(this.#lines().map(placeOf)); // read after: what is committed was handled before
    this.#violations.push(...uncovered(committed, handled).slice(0, 3));
  }

  async #committed(): Promise<ReadonlyMap<number, bigint>> {
    const [topic] = await this.#ask((admin) => admin.fetchOffsets({ groupId: "chaos", topics: ["rows"] }));
    return new Map(
      (topic?.partitions ?? []).filter(({ offset }) => offset !== "-1").map(({ partition, offset }) => [partition, BigInt(offset)]),
    );
  }

  #lines(): ReturnType<typeof parseAudit> {
    return parseAudit(readFileSync(this.#audit, "utf8"));
  }
}

function endOf(child: ChildProcess): Promise<void> {
  return child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve()
    : new Promise((resolve) => child.once("exit", () => resolve()));
}
