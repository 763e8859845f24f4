/** Members whose topic is deleted and created again while they are at work, stop, are killed or frozen; judged by what they wrote down. */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as pass } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type Admin, Kafka, logLevel } from "kafkajs";
import { Random } from "../fuzz/random.ts";
import { createTopics } from "../integration/stack.ts";
import { startProxiedKafka } from "./proxied-kafka.ts";

export interface RecreatedReport {
  readonly violations: readonly string[];
  readonly written: number;
  readonly handled: number;
  readonly faults: Readonly<Record<string, number>>;
  /** Recreations after which a process handled records of the new topic that had handled some of the old one. */
  readonly metLiveMembers: number;
  /** Positions that members found to be of an older topic, as far as they lived to tell. */
  readonly found: number;
  /** Members that halted because their topic was recreated, and were replaced. */
  readonly halted: number;
}

export interface RecreatedChaosOptions {
  readonly seed: number;
  /** Options of the consumers under test. */
  readonly consumer?: Readonly<Record<string, unknown>>;
  /** The name of a bug that is planted into the members. */
  readonly bug?: string;
  readonly log?: (line: string) => void;
}

/** What happens beside a recreation: each once, in an order that the seed draws. */
const faults = ["nothing", "nothing", "kill", "stop", "short freeze", "freeze", "halt"] as const;
type Fault = (typeof faults)[number];

const topic = "rows";
const groupId = "recreated";
const partitions = 2;
const memberScript = fileURLToPath(new URL("./recreated-member.mjs", import.meta.url));
/** Longer than the session of a member, and shorter. */
const freezeMs = { freeze: 4_000, "short freeze": 800 } as const;
const quietMs = 45_000;

export async function runRecreatedChaos(options: RecreatedChaosOptions): Promise<RecreatedReport> {
  const { dir, kafka, stop } = await startProxiedKafka();
  const scene = new RecreatedScene(join(dir, "handled.txt"), kafka.brokers, options);
  try {
    return await scene.play();
  } finally {
    await scene.close();
    await stop();
  }
}

interface Handled {
  readonly incarnation: number;
  readonly place: string;
  readonly pid: number;
}

interface Member {
  readonly child: ChildProcess;
  readonly lostRange: "earliest" | "halt";
  words: string;
}

class RecreatedScene {
  readonly #audit: string;
  readonly #brokers: string;
  readonly #options: RecreatedChaosOptions;
  readonly #random: Random;
  readonly #client: Kafka;
  readonly #admin: Admin;
  readonly #members: Member[] = [];
  readonly #faults: Record<string, number> = {};
  readonly #violations: string[] = [];
  /** Of the topic as it is now: how many records each partition has. */
  #sizes: number[] = [];
  #incarnation = 0;
  #written = 0;
  #halted = 0;
  #isOver = false;

  constructor(audit: string, brokers: string, options: RecreatedChaosOptions) {
    this.#audit = audit;
    this.#brokers = brokers;
    this.#options = options;
    this.#random = new Random(options.seed);
    this.#client = new Kafka({ brokers: [brokers], logLevel: logLevel.NOTHING, retry: { retries: 5, initialRetryTime: 50 } });
    this.#admin = this.#client.admin();
    writeFileSync(audit, "");
  }

  async play(): Promise<RecreatedReport> {
    await this.#admin.connect();
    await this.#create();
    this.#join("earliest");
    this.#join("earliest");
    for (const fault of this.#random.shuffled(faults)) {
      await this.#untilHandled(this.#random.chance(0.3) ? 1 : 0.1 + this.#random.below(60) / 100);
      this.#options.log?.(`recreated: ${fault} beside incarnation ${this.#incarnation + 1}`);
      this.#faults[fault] = (this.#faults[fault] ?? 0) + 1;
      await this.#recreateBeside(fault);
    }
    await this.#untilHandled(1);
    await this.#untilCommitted();
    // Over a copy: each that leaves is taken out of the list, and the next would be passed over and go on during the audit.
    await Promise.all([...this.#members].map((member) => this.#leave(member)));
    const handled = this.#handled();
    this.#judge(handled);
    return {
      violations: this.#violations,
      written: this.#written,
      handled: handled.length,
      faults: this.#faults,
      metLiveMembers: metLiveMembers(handled),
      found: this.#found(),
      halted: this.#halted,
    };
  }

  async close(): Promise<void> {
    this.#isOver = true;
    for (const { child } of this.#members) {
      child.kill("SIGKILL");
    }
    await this.#admin.disconnect().catch(() => {});
  }

  /** The fault comes before the topic is deleted, while there is none, or right after it is there again. */
  async #recreateBeside(fault: Fault): Promise<void> {
    if (fault === "halt") {
      // It must have a position to halt at: of the topic as it is.
      this.#join("halt");
      await pass(1_500);
    }
    const at = this.#random.below(3);
    const faulty = (moment: number): Promise<void> => (at === moment ? this.#disturb(fault) : Promise.resolve());
    const over = [faulty(0)];
    await pass(this.#random.below(150));
    await this.#admin.deleteTopics({ topics: [topic] });
    over.push(faulty(1));
    await pass(this.#random.pick([0, 0, 50, 600]));
    await this.#create();
    over.push(faulty(2));
    await Promise.all(over);
    while (this.#members.length < 2) {
      this.#join("earliest");
    }
  }

  async #disturb(fault: Fault): Promise<void> {
    const member = this.#random.pick(this.#members);
    if (fault === "kill") {
      this.#forget(member);
      member.child.kill("SIGKILL");
    } else if (fault === "stop") {
      await this.#leave(member);
    } else if (fault === "freeze" || fault === "short freeze") {
      member.child.kill("SIGSTOP");
      await pass(freezeMs[fault]);
      member.child.kill("SIGCONT");
    }
  }

  /** The next incarnation, at once with more records than members have read of the one before: positions in it fall into the new one. */
  async #create(): Promise<void> {
    this.#incarnation++;
    this.#sizes = Array.from({ length: partitions }, () => 0);
    await this.#made();
    const producer = this.#client.producer();
    await producer.connect();
    for (const count of [800, this.#random.below(700)]) {
      const messages = this.#sizes.flatMap((size, partition) =>
        Array.from({ length: count }, (_, i) => this.#message(partition, size + i)),
      );
      this.#sizes = this.#sizes.map((size) => size + count);
      this.#written += messages.length;
      await producer.send({ topic, messages, acks: -1 });
      await pass(this.#random.below(100));
    }
    await producer.disconnect();
  }

  #message(partition: number, number: number): { partition: number; key: string; value: string } {
    return { partition, key: JSON.stringify({ id: number % 20 }), value: JSON.stringify({ incarnation: this.#incarnation, number }) };
  }

  /** A topic that is being deleted is still there for a while. */
  async #made(): Promise<void> {
    for (const giveUpAt = performance.now() + quietMs; ; await pass(50)) {
      try {
        await createTopics(this.#admin, [{ topic, numPartitions: partitions }]);
        return;
      } catch (error) {
        if (performance.now() > giveUpAt) {
          throw error;
        }
      }
    }
  }

  /** Until so much of the topic as it is now is handled. */
  async #untilHandled(part: number): Promise<void> {
    const wanted = Math.floor(this.#sizes.reduce((sum, size) => sum + size, 0) * part);
    let [count, movedAt] = [-1, performance.now()];
    for (; ; await pass(25)) {
      const places = this.#placesOf(this.#handled());
      if (places.size >= wanted) {
        return;
      }
      if (places.size !== count) {
        [count, movedAt] = [places.size, performance.now()];
      }
      if (performance.now() - movedAt > quietMs) {
        const what = `${count} of ${wanted} records of incarnation ${this.#incarnation} are handled, and nothing moved for ${quietMs} ms`;
        throw new Error([what, ...this.#missing(places).slice(0, 5), `committed: ${JSON.stringify(await this.#committed())}`].join("; "));
      }
    }
  }

  async #untilCommitted(): Promise<void> {
    for (const giveUpAt = performance.now() + quietMs; ; await pass(100)) {
      const committed = await this.#committed().catch(() => []);
      if (this.#sizes.every((size, partition) => committed[partition] === String(size))) {
        return;
      }
      if (performance.now() > giveUpAt) {
        this.#violations.push(`all is handled, and the group is at ${committed.join(" ")} of ${this.#sizes.join(" ")}`);
        return;
      }
    }
  }

  async #committed(): Promise<readonly (string | undefined)[]> {
    const [offsets] = await this.#admin.fetchOffsets({ groupId, topics: [topic] });
    const byPartition = new Map(offsets?.partitions.map(({ partition, offset }) => [partition, offset]));
    return this.#sizes.map((_, partition) => byPartition.get(partition));
  }

  #judge(handled: readonly Handled[]): void {
    const places = this.#placesOf(handled);
    this.#violations.push(...this.#missing(places).slice(0, 5));
    if (places.size > this.#sizes.reduce((sum, size) => sum + size, 0)) {
      this.#violations.push("records were handled that nobody has written");
    }
  }

  /** What is handled of the topic as it is now. */
  #placesOf(handled: readonly Handled[]): ReadonlySet<string> {
    return new Set(handled.filter(({ incarnation }) => incarnation === this.#incarnation).map(({ place }) => place));
  }

  #missing(places: ReadonlySet<string>): readonly string[] {
    return this.#sizes.flatMap((size, partition) => {
      const missing = Array.from({ length: size }, (_, number) => number).filter((number) => !places.has(`${partition}:${number}`));
      const range = `${missing[0]} to ${missing.at(-1)}`;
      return missing.length === 0 ? [] : [`${missing.length} records of ${topic}[${partition}] were never handled, between ${range}`];
    });
  }

  #join(lostRange: Member["lostRange"]): void {
    const options = { failure: { lostRange }, delivery: { commitIntervalMs: 20 }, ...this.#options.consumer };
    const config = JSON.stringify({ brokers: this.#brokers, audit: this.#audit, bug: this.#options.bug, ...options });
    const child = spawn(process.execPath, [memberScript, config], { stdio: ["ignore", "ignore", "pipe"] });
    const member: Member = { child, lostRange, words: "" };
    child.stderr?.on("data", (text: Buffer) => {
      member.words += String(text);
    });
    // One that ends by itself is replaced by one that is to go on with the new topic, as somebody who has decided would.
    child.once("close", () => {
      if (this.#forget(member) && !this.#isOver) {
        this.#options.log?.(`a member (${lostRange}) ended by itself: ${member.words.trimEnd()}`);
        this.#endedByItself(member);
        this.#join("earliest");
      }
    });
    this.#members.push(member);
  }

  #endedByItself({ lostRange, words }: Member): void {
    if (words.includes("[topic-recreated]") && lostRange === "halt") {
      this.#halted++;
    } else if (words.includes("[topic-recreated]") || words.includes("[offset-out-of-range]")) {
      this.#violations.push(`a member that was to go on with the new topic ended: ${words.trimEnd()}`);
    } else {
      this.#faults["gave up"] = (this.#faults["gave up"] ?? 0) + 1; // it started while there was no topic
    }
  }

  async #leave(member: Member): Promise<void> {
    if (this.#forget(member)) {
      const ended = new Promise<boolean>((resolve) => member.child.once("exit", () => resolve(true)));
      member.child.kill("SIGTERM");
      if (!(await Promise.race([ended, pass(15_000, false, { ref: false })]))) {
        this.#violations.push("a member was not gone 15 s after SIGTERM");
        member.child.kill("SIGKILL");
      }
    }
  }

  #forget(member: Member): boolean {
    const at = this.#members.indexOf(member);
    if (at !== -1) {
      this.#members.splice(at, 1);
    }
    return at !== -1;
  }

  #lines(): readonly string[] {
    return readFileSync(this.#audit, "utf8").split("\n").slice(0, -1);
  }

  #handled(): readonly Handled[] {
    return this.#lines()
      .filter((line) => !line.startsWith("counted"))
      .map((line) => {
        const [incarnation = "", partition = "", number = "", pid = ""] = line.split(" ");
        return { incarnation: Number(incarnation), place: `${partition}:${number}`, pid: Number(pid) };
      });
  }

  #found(): number {
    const counts = this.#lines().filter((line) => line.startsWith("counted"));
    return counts.reduce((sum, line) => sum + Number(line.split(" ")[1]), 0);
  }
}

function metLiveMembers(handled: readonly Handled[]): number {
  const pidsOf = new Map<number, Set<number>>();
  for (const { incarnation, pid } of handled) {
    pidsOf.set(incarnation, (pidsOf.get(incarnation) ?? new Set()).add(pid));
  }
  return [...pidsOf].filter(([incarnation, pids]) => [...pids].some((pid) => pidsOf.get(incarnation - 1)?.has(pid))).length;
}
