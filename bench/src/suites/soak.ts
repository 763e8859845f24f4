import { type ChildProcess, fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pass } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type Admin, Kafka, logLevel } from "kafkajs";
import { startKafka } from "../../../scripts/stack/kafka.mjs";
import type { SoakAnswer, SoakMemberOptions, SoakProgress, SoakQuestion } from "../cases/soak-member.ts";
import { loadCorpus } from "../corpus.ts";
import { environment } from "../environment.ts";
import { type Flatness, flatnessOf, type MemorySample, type Watched } from "../flatness.ts";
import { judgeMarks, type MarksByPlace, type MarksVerdict, placeOf } from "../handled-marks.ts";
import { SchemaServer } from "../schema-server.ts";
import { maxRecordsPerPartition, SoakProducer, soakTopics } from "../soak-producer.ts";

const sampleEveryS = 15;
/** A second member joins so often, and leaves after so long. */
const joinEveryS = 120;
const joinsForS = 30;
/** The registry goes so often for so long; what is written meanwhile has schemas under ids that nobody has seen. */
const registryGoesEveryS = 300;
const registryIsAwayS = 10;
/** Of the median of the last third over that of the second. */
const maxGrowth = 0.05;

/** A member that reads nothing is flat too: so long it may handle nothing, while the registry is away and requests are tried again. */
const maxIdleS = 60;

interface Sample extends MemorySample, SoakProgress {}

/** What happens to the member that is watched, by seconds from the start. */
interface Incidents {
  readonly joins: number[];
  readonly registryRestarts: number[];
}

/** Half an hour of a service under an even load, with rebalances and restarts of the registry: does it hold more and more? */
export async function runSoak({ minutes = 30 }: { readonly minutes?: number }): Promise<{ text: string; result: object; held: boolean }> {
  const dir = mkdtempSync(join(tmpdir(), "cdckit-soak-"));
  const kafka = await startKafka({ dir, config: smallLogs });
  const registry = new SchemaServer((await loadCorpus("confluent-avro")).schemas);
  await registry.start();
  const scene = new SoakScene(kafka.brokers, registry, minutes);
  try {
    return report(await scene.play(), minutes);
  } finally {
    scene.close();
    registry.stop();
    await kafka.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** What was read goes soon: half an hour would be gigabytes. */
const smallLogs = {
  "log.retention.bytes": 64 * 2 ** 20,
  "log.segment.bytes": 16 * 2 ** 20,
  "log.retention.check.interval.ms": 30_000,
};

interface SoakOutcome {
  readonly samples: readonly Sample[];
  readonly incidents: Incidents;
  readonly written: { readonly records: number; readonly bytes: number };
  readonly marks: MarksVerdict;
  readonly errors: readonly string[];
  readonly requests: number;
}

class SoakScene {
  readonly #registry: SchemaServer;
  readonly #minutes: number;
  readonly #producer: SoakProducer;
  readonly #client: Kafka;
  readonly #options: SoakMemberOptions;
  readonly #members: SoakMember[] = [];
  readonly #samples: Sample[] = [];
  readonly #incidents: Incidents = { joins: [], registryRestarts: [] };
  readonly #startedAt: number = performance.now();

  constructor(brokers: string, registry: SchemaServer, minutes: number) {
    this.#registry = registry;
    this.#minutes = minutes;
    this.#producer = new SoakProducer(brokers);
    this.#client = new Kafka({ brokers: [brokers], logLevel: logLevel.NOTHING });
    const recordsPerPartition = maxRecordsPerPartition(minutes);
    this.#options = { brokers, registryUrl: registry.url, groupId: "soak", topics: soakTopics, recordsPerPartition };
  }

  async play(): Promise<SoakOutcome> {
    const admin = this.#client.admin();
    await admin.connect();
    const topics = Object.entries(soakTopics).map(([topic, numPartitions]) => ({ topic, numPartitions }));
    await admin.createTopics({ topics, waitForLeaders: true });
    const producing = this.#producer.run();
    producing.catch(() => {}); // awaited below
    const watched = this.#join();
    const happening = this.#happen();
    happening.catch(() => {}); // awaited below
    for (let i = 1; i <= (this.#minutes * 60) / sampleEveryS; i++) {
      await pass(Math.max(0, i * sampleEveryS * 1000 - this.#elapsedMs()));
      await this.#sample(watched);
    }
    await happening;
    this.#producer.stop();
    await producing;
    const ends = await this.#untilCommitted(admin);
    const answers = await Promise.all(this.#members.map((member) => member.stop()));
    await admin.disconnect();
    return {
      samples: this.#samples,
      incidents: this.#incidents,
      written: this.#producer.written,
      marks: judgeMarks(
        answers.map(({ marks }) => marks),
        ends,
      ),
      errors: answers.flatMap(({ error }) => error ?? []),
      requests: this.#registry.requests,
    };
  }

  close(): void {
    this.#producer.stop();
    for (const member of this.#members) {
      member.kill();
    }
  }

  async #sample(watched: SoakMember): Promise<void> {
    const { memory, at } = await watched.sample();
    this.#samples.push({ atS: Math.round(this.#elapsedMs() / 1000), ...memory, ...at });
  }

  /** Second by second, what is due. */
  async #happen(): Promise<void> {
    const endS = this.#minutes * 60 - Math.max(joinsForS, registryIsAwayS);
    for (let second = 30; second < endS; second++) {
      await pass(Math.max(0, second * 1000 - this.#elapsedMs()));
      if (second % joinEveryS === joinEveryS / 2) {
        this.#incidents.joins.push(second);
        this.#join();
      } else if (second % joinEveryS === joinEveryS / 2 + joinsForS) {
        await this.#members.at(-1)?.stop();
      }
      if (second % registryGoesEveryS === registryGoesEveryS / 2) {
        this.#incidents.registryRestarts.push(second);
        this.#registry.stop();
        this.#producer.generation++;
      } else if (second % registryGoesEveryS === registryGoesEveryS / 2 + registryIsAwayS) {
        await this.#registry.start();
      }
    }
  }

  #join(): SoakMember {
    const member = new SoakMember(this.#options);
    this.#members.push(member);
    return member;
  }

  /** The ends of the logs, once the group has committed them. */
  async #untilCommitted(admin: Admin): Promise<ReadonlyMap<string, number>> {
    const ends = new Map<string, number>();
    for (const topic of Object.keys(soakTopics)) {
      for (const { partition, high } of await admin.fetchTopicOffsets(topic)) {
        ends.set(placeOf(topic, partition), Number(high));
      }
    }
    const giveUpAt = performance.now() + 60_000;
    while (performance.now() < giveUpAt) {
      const committed = await admin.fetchOffsets({ groupId: "soak", topics: Object.keys(soakTopics) });
      const all = committed.flatMap(({ topic, partitions }) => partitions.map((one) => ({ topic, ...one })));
      if (all.every(({ topic, partition, offset }) => Number(offset) === ends.get(placeOf(topic, partition)))) {
        break; // what is missing otherwise, the marks say
      }
      await pass(500);
    }
    return ends;
  }

  #elapsedMs(): number {
    return performance.now() - this.#startedAt;
  }
}

type Ended = { readonly marks: MarksByPlace; readonly error: string | null };

/** A member in a process of its own. */
class SoakMember {
  readonly #child: ChildProcess;
  readonly #ended: Promise<Ended>;
  #onSample: (answer: Extract<SoakAnswer, { kind: "sample" }>) => void = () => {};

  constructor(options: SoakMemberOptions) {
    const script = fileURLToPath(new URL("../soak-child.js", import.meta.url));
    this.#child = fork(script, [JSON.stringify(options)], { execArgv: ["--expose-gc"], serialization: "advanced" });
    this.#ended = new Promise((resolve) => {
      this.#child.on("message", (answer: SoakAnswer) => (answer.kind === "ended" ? resolve(answer) : this.#onSample(answer)));
      // After everything that it said was read, as it is not at its exit.
      this.#child.once("disconnect", () => resolve({ marks: {}, error: "a member ended without a word" }));
    });
  }

  async sample(): Promise<Extract<SoakAnswer, { kind: "sample" }>> {
    const sampled = new Promise<Extract<SoakAnswer, { kind: "sample" }>>((resolve) => {
      this.#onSample = resolve;
    });
    this.#ask("sample");
    const answer = await Promise.race([sampled, this.#ended]);
    if (!("kind" in answer) || answer.kind !== "sample") {
      throw new Error(`the member that is watched has ended: ${(answer as Ended).error}`);
    }
    return answer;
  }

  stop(): Promise<Ended> {
    this.#ask("stop");
    return this.#ended;
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  #ask(question: SoakQuestion): void {
    if (this.#child.connected) {
      this.#child.send(question);
    }
  }
}

const watchedFigures: readonly Watched[] = ["residentBytes", "heapUsedBytes", "externalBytes", "handles"];

function report(outcome: SoakOutcome, minutes: number): { text: string; result: object; held: boolean } {
  const { samples, incidents, written, marks, errors } = outcome;
  const verdicts = watchedFigures.map((what) => flatnessOf(samples, what, maxGrowth));
  // The resident size and the heap are what is promised; the others say where to look.
  const isFlat = verdicts.every(({ what, isFlat: flat }) => flat || what === "externalBytes");
  const idleS = longestIdleS(samples);
  const held = isFlat && idleS <= maxIdleS && marks.missing === 0 && errors.length === 0;
  const peakResidentBytes = Math.max(...samples.map((sample) => sample.peakResidentBytes));
  const facts = { minutes, sampleEveryS, maxGrowth, ...written, incidents, registryRequests: outcome.requests };
  return {
    text: [
      `soak, ${minutes} minutes, ${written.records} records, ${incidents.joins.length} joins and leaves, ${incidents.registryRestarts.length} registry restarts`,
      `handled ${marks.records - marks.missing} of ${marks.records}, ${marks.repeated} of them again; peak resident size ${mib(peakResidentBytes)} MiB`,
      `longest time in which the member that is watched handled nothing: ${idleS} s (at most ${maxIdleS})`,
      ...verdicts.map(lineOf),
      ...errors,
      held ? "held" : "MISSED",
    ].join("\n"),
    result: { environment: environment(), ...facts, held, verdicts, idleS, maxIdleS, marks, errors, peakResidentBytes, samples },
    held,
  };
}

function longestIdleS(samples: readonly Sample[]): number {
  let [longest, sinceS, handled] = [0, 0, 0];
  for (const sample of samples) {
    if (sample.handled > handled) {
      [sinceS, handled] = [sample.atS, sample.handled];
    }
    longest = Math.max(longest, sample.atS - sinceS);
  }
  return longest;
}

function lineOf({ what, medianSecondThird, medianLastThird, growth, slopePerHour, isFlat }: Flatness): string {
  const show = what === "handles" ? String : mib;
  const unit = what === "handles" ? "" : " MiB";
  const percent = `${(100 * growth).toFixed(1)}%`;
  return `${what}: median ${show(medianSecondThird)} then ${show(medianLastThird)}${unit} (${percent}), slope ${show(slopePerHour)}${unit} an hour: ${isFlat ? "flat" : "GROWING"}`;
}

function mib(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(1);
}
