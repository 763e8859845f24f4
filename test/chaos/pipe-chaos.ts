/** Members that pass records on in transactions, on a real Kafka, killed, frozen and joined by others; judged by Kafka's own reader. */
import { type ChildProcess, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as pass } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type Admin, Kafka, logLevel } from "kafkajs";
import { type RunningKafka, runKafkaTool } from "../../scripts/stack/kafka.mjs";
import { Random } from "../fuzz/random.ts";
import { AppendedLines } from "./appended-lines.ts";
import { commitsThatWentBack, type GroupCommit, lastCommits, readGroupCommits } from "./group-commits.ts";
import { startProxiedKafka } from "./proxied-kafka.ts";

export interface PipeReport {
  readonly violations: readonly string[];
  readonly written: number;
  readonly read: number;
  /** Commits of the group that were audited, each in the coordinator's log. */
  readonly commits: number;
  readonly faults: Readonly<Record<string, number>>;
  /** Events that members were handed after a freeze, and that others had passed on by then. */
  readonly handedAfterFreeze: number;
}

export interface PipeChaosOptions {
  readonly seed: number;
  readonly seconds: number;
  /** The name of a bug that is planted into the members. */
  readonly bug?: string;
  readonly log?: (line: string) => void;
}

const partitions = 3;
const memberScript = fileURLToPath(new URL("./pipe-member.mjs", import.meta.url));
/** Longer than the session of a member. */
const freezeMs = 4_000;
/** After so long without a fault and without progress, members are stuck. */
const quietMs = 60_000;
/** So many records are written ahead of the group at most: what hours would be needed for proves no more. */
const maxAhead = 20_000;
/** A batch is under way when a process is frozen: it is handed on already. */
const maxInFlight = 25;
/** Members that settle after the last fault hand a record on again with each rebalance. They are few, and this is more. */
const maxTimesHanded = 10;
/** How long Kafka's readers wait for more. On a busy machine they may give up before they have begun: then the next is tried. */
const idleMs = [4_000, 20_000, 60_000] as const;
const readerDeadlineMs = 120_000;
/** More than there are inputs is a violation, and need not be read to its end. */
const maxReadBeyond = 1_000;

interface Handed {
  readonly partition: number;
  readonly offset: bigint;
  readonly pid: number;
}

export async function runPipeChaos(options: PipeChaosOptions): Promise<PipeReport> {
  const { dir, kafka, stop } = await startProxiedKafka();
  const scene = new PipeScene(join(dir, "handed.txt"), kafka, options);
  try {
    return await scene.play();
  } finally {
    scene.close();
    await stop();
  }
}

class PipeScene {
  readonly #audit: string;
  readonly #handed: AppendedLines<Handed>;
  readonly #kafka: RunningKafka;
  readonly #options: PipeChaosOptions;
  readonly #random: Random;
  readonly #client: Kafka;
  readonly #admin: Admin;
  readonly #members: ChildProcess[] = [];
  readonly #faults: Record<string, number> = {};
  readonly #violations: string[] = [];
  readonly #reached = new Map<number, bigint>();
  #written = 0;
  #handedAfterFreeze = 0;
  #isOver = false;

  constructor(audit: string, kafka: RunningKafka, options: PipeChaosOptions) {
    this.#audit = audit;
    this.#handed = new AppendedLines(audit, parseHanded);
    this.#kafka = kafka;
    this.#options = options;
    this.#random = new Random(options.seed);
    this.#client = new Kafka({ brokers: [kafka.brokers], logLevel: logLevel.NOTHING });
    this.#admin = this.#client.admin();
    writeFileSync(audit, "");
  }

  async play(): Promise<PipeReport> {
    const { seconds, log } = this.#options;
    await this.#admin.connect();
    const topics = [
      { topic: "rows", numPartitions: partitions },
      { topic: "out", numPartitions: 1 },
    ];
    await this.#admin.createTopics({ topics, waitForLeaders: true });
    this.#join();
    this.#join();
    const endAt = performance.now() + seconds * 1_000;
    const producing = this.#produceUntil(endAt);
    await this.#untilCommitted(() => [...this.#reached.values()].some((offset) => offset > 0n));
    for (let round: string[] = []; performance.now() < endAt; ) {
      round = round.length === 0 ? [...this.#random.shuffled(["kill", "freeze", "join", "leave"])] : round;
      const fault = round.pop() ?? "join";
      log?.(`pipe: ${fault}`);
      this.#faults[fault] = (this.#faults[fault] ?? 0) + 1;
      await this.#disturb(fault);
      await pass(this.#random.below(400));
    }
    await producing;
    const ends = new Map((await this.#admin.fetchTopicOffsets("rows")).map(({ partition, high }) => [partition, BigInt(high)]));
    await this.#untilCommitted(() => [...ends].every(([partition, end]) => (this.#reached.get(partition) ?? 0n) === end));
    // Over a copy: each that leaves is taken out of the list, and the next would be passed over and go on during the audit.
    await Promise.all([...this.#members].map((member) => this.#leave(member)));
    await this.#look();
    const commits = await this.#readCommits();
    this.#violations.push(...commitsThatWentBack(commits));
    const read = await this.#readOutput();
    this.#judge(ends, read);
    return {
      violations: this.#violations,
      written: this.#written,
      read: read.length,
      commits: commits.length,
      faults: this.#faults,
      handedAfterFreeze: this.#handedAfterFreeze,
    };
  }

  close(): void {
    this.#isOver = true;
    for (const member of this.#members) {
      member.kill("SIGKILL");
    }
    void this.#admin.disconnect().catch(() => {});
  }

  async #disturb(fault: string): Promise<void> {
    const member = this.#random.pick(this.#members);
    if (fault === "join") {
      this.#join();
      await this.#look();
    } else if (fault === "leave") {
      await this.#leave(member);
    } else if (fault === "kill") {
      this.#forget(member);
      member.kill("SIGKILL");
    } else {
      await this.#freeze(member);
    }
    while (this.#members.length < 2) {
      this.#join();
    }
    await this.#look();
  }

  /** What a member is handed after its freeze is either under way, or of an assignment that it has got since. */
  async #freeze(member: ChildProcess): Promise<void> {
    member.kill("SIGSTOP");
    await pass(freezeMs);
    await this.#look();
    const passedOn = new Map(this.#reached);
    const line = this.#handed.read().length;
    member.kill("SIGCONT");
    await pass(1_500);
    const again = this.#handed
      .read()
      .slice(line)
      .filter(({ pid, partition, offset }) => pid === member.pid && offset < (passedOn.get(partition) ?? 0n));
    this.#handedAfterFreeze += again.length;
    if (again.length > maxInFlight) {
      this.#violations.push(`${again.length} events were handed to a member after its freeze, and others had passed them on`);
    }
  }

  async #produceUntil(endAt: number): Promise<void> {
    const producer = this.#client.producer({ idempotent: true, maxInFlightRequests: 1 });
    await producer.connect();
    const random = new Random(this.#options.seed + 1);
    while (performance.now() < endAt && !this.#isOver) {
      const messages = Array.from({ length: 1 + random.below(30) }, () => ({
        partition: random.below(partitions),
        value: String(this.#written++),
      }));
      await producer.send({ topic: "rows", messages, acks: -1 });
      do {
        await pass(20);
      } while (this.#written - this.#handled() > maxAhead && performance.now() < endAt && !this.#isOver);
    }
    await producer.disconnect();
  }

  /** Notes how far the group is, and that it has not gone back. */
  async #look(): Promise<void> {
    const [topic] = await this.#committed();
    for (const { partition, offset } of topic?.partitions ?? []) {
      const before = this.#reached.get(partition) ?? -1n;
      if (BigInt(offset) < before) {
        this.#violations.push(`the group's commit of ${partition} went back from ${before} to ${offset}`);
      }
      this.#reached.set(partition, BigInt(offset));
    }
  }

  /** A coordinator that is just being made, or is loaded, answers a little later; kafkajs' admin asks only once. */
  async #committed(): ReturnType<Admin["fetchOffsets"]> {
    for (const giveUpAt = performance.now() + 20_000; ; await pass(100)) {
      try {
        return await this.#admin.fetchOffsets({ groupId: "pipe", topics: ["rows"] });
      } catch (error) {
        if (performance.now() > giveUpAt) {
          throw error;
        }
      }
    }
  }

  /** How many records the group has committed, when it was last looked at. */
  #handled(): number {
    return [...this.#reached.values()].reduce((sum, offset) => sum + Number(offset), 0);
  }

  /** Waits until the group is where it has to be, and no longer than it takes to see that members repeat their work, or do none. */
  async #untilCommitted(isReached: () => boolean): Promise<void> {
    const line = this.#handed.read().length;
    for (let giveUpAt = performance.now() + quietMs, before = this.#handled(); ; await pass(25)) {
      await this.#look();
      if (this.#handled() > before) {
        before = this.#handled();
        giveUpAt = performance.now() + quietMs;
      }
      if (isReached()) {
        return;
      }
      const again = maxRepeats(this.#handed.read().slice(line));
      if (again.times > maxTimesHanded) {
        this.#violations.push(`members repeat their work: ${again.place} was handed on ${again.times} times, and nothing was disturbed`);
        return;
      }
      if (performance.now() > giveUpAt) {
        this.#violations.push(`nothing was disturbed for ${quietMs} ms, and the group stays at ${[...this.#reached].join(" ")}`);
        return;
      }
    }
  }

  #judge(ends: ReadonlyMap<number, bigint>, read: readonly string[]): void {
    if (read.length > this.#written) {
      this.#violations.push(`the output holds ${read.length} records or more, and ${this.#written} were written to the input`);
    }
    const times = timesOf(read);
    const twice = [...times].filter(([, count]) => count > 1).map(([name]) => name);
    const missing: string[] = [];
    for (const [partition, end] of ends) {
      for (let offset = 0n; offset < end; offset++) {
        if (!times.has(`${partition}:${offset}`)) {
          missing.push(`${partition}:${offset}`);
        }
      }
    }
    if (twice.length > 0) {
      this.#violations.push(`${twice.length} records are in the output twice: ${twice.slice(0, 5).join(" ")}`);
    }
    if (missing.length > 0) {
      this.#violations.push(`${missing.length} records are not in the output: ${missing.slice(0, 5).join(" ")}`);
    }
  }

  /** By Kafka's own console consumer: not by a client that could share our mistakes. */
  #readOutput(): Promise<readonly string[]> {
    const args = ["--bootstrap-server", this.#kafka.brokers, "--topic", "out", "--from-beginning", "--isolation-level", "read_committed"];
    const bound = ["--max-messages", String(this.#written + maxReadBeyond)];
    const tool = "org.apache.kafka.tools.consumer.ConsoleConsumer";
    const read = async (idle: number): Promise<readonly string[]> => {
      const { stdout } = await runKafkaTool(this.#kafka, tool, [...args, ...bound, "--timeout-ms", String(idle)], {
        deadlineMs: readerDeadlineMs,
      });
      return stdout.split("\n").filter((line) => /^\d+:\d+$/.test(line));
    };
    return this.#untilRead("the output", read, (names) => (names.length < this.#written ? `${this.#written} records were written` : null));
  }

  /** Until they end where the group is: an open transaction of a member that was killed holds the reader up until it expires. */
  #readCommits(): Promise<readonly GroupCommit[]> {
    const read = (idle: number): Promise<readonly GroupCommit[]> =>
      readGroupCommits(this.#kafka, "pipe", "rows", { idleMs: idle, deadlineMs: readerDeadlineMs });
    return this.#untilRead("the log of the group's commits", read, async (commits) => {
      await this.#look(); // what a member sent before it was killed may have been taken since
      const last = lastCommits(commits);
      const other = [...this.#reached].filter(([partition, offset]) => offset !== -1n && last.get(partition) !== offset);
      const places = other.map(([partition, offset]) => `partition ${partition} at ${offset} and the log at ${last.get(partition)}`);
      return places.length > 0 ? `the group has ${places.join(", ")}` : null;
    });
  }

  /** A reader that dies or sees too little is a finding beside the others, and hides none of them. */
  async #untilRead<Read>(
    what: string,
    read: (idle: number) => Promise<readonly Read[]>,
    lackOf: (found: readonly Read[]) => string | null | Promise<string | null>,
  ): Promise<readonly Read[]> {
    let found: readonly Read[] = [];
    let lack: string | null = null;
    // The long waits are for a machine that is busy. What is a violation already needs no such patience.
    for (const idle of this.#violations.length > 0 ? idleMs.slice(0, 2) : idleMs) {
      try {
        found = await read(idle);
      } catch (error) {
        this.#violations.push(`${what} could not be read: ${error instanceof Error ? error.message.slice(0, 300) : String(error)}`);
        return found;
      }
      lack = await lackOf(found);
      if (lack === null) {
        return found;
      }
    }
    this.#violations.push(`${what} could not be read to its end: Kafka's reader saw ${found.length} records, but ${lack}`);
    return found;
  }

  #join(): void {
    const config = JSON.stringify({ brokers: this.#kafka.brokers, audit: this.#audit, bug: this.#options.bug });
    const member = spawn(process.execPath, [memberScript, config], { stdio: ["ignore", "ignore", "pipe"] });
    member.stderr?.on("data", (text: Buffer) => this.#options.log?.(`member ${member.pid}: ${String(text).trimEnd()}`));
    // One that gives up by itself is replaced, as an orchestrator would.
    member.once("exit", () => {
      if (this.#forget(member) && !this.#isOver) {
        this.#faults["gave up"] = (this.#faults["gave up"] ?? 0) + 1;
        this.#join();
      }
    });
    this.#members.push(member);
  }

  async #leave(member: ChildProcess): Promise<void> {
    if (this.#forget(member)) {
      const ended = new Promise<void>((resolve) => member.once("exit", () => resolve()));
      member.kill("SIGTERM");
      await Promise.race([ended, pass(15_000)]);
      member.kill("SIGKILL");
    }
  }

  #forget(member: ChildProcess): boolean {
    const at = this.#members.indexOf(member);
    if (at !== -1) {
      this.#members.splice(at, 1);
    }
    return at !== -1;
  }
}

function parseHanded(text: string): readonly Handed[] {
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => {
      const [partition = "", offset = "", pid = ""] = line.split(" ");
      return { partition: Number(partition), offset: BigInt(offset), pid: Number(pid) };
    });
}

function timesOf(names: readonly string[]): ReadonlyMap<string, number> {
  const times = new Map<string, number>();
  for (const name of names) {
    times.set(name, (times.get(name) ?? 0) + 1);
  }
  return times;
}

/** The record that was handed to members most often. */
function maxRepeats(handed: readonly Handed[]): { readonly place: string; readonly times: number } {
  const times = timesOf(handed.map(({ partition, offset }) => `${partition}:${offset}`));
  return [...times].reduce((most, [place, count]) => (count > most.times ? { place, times: count } : most), { place: "none", times: 0 });
}
