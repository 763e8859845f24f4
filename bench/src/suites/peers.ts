import { resolve } from "node:path";
import { peersReport } from "../../../scripts/published/peers-report.mjs";
import { environment } from "../environment.ts";
import { toolVersions } from "../tool-versions.ts";
import { type ConsumeOutcome, measureConsume } from "../peers/consume-case.ts";
import { measureColumnsCase, measureOperations } from "../peers/decode-cases.ts";
import { notRun, type Row } from "../peers/figures.ts";
import { type CaseOptions, type CaseOutcome, measureIdle, measureLatency, measureWorkers } from "../peers/other-cases.ts";
import { type OwnKafka, withOwnKafka } from "../peers/own-kafka.ts";
import { consumeRows } from "../peers/rows.ts";
import { sides } from "../peers/sides.ts";
import { fullSizes, type PeerSizes, quickSizes } from "../peers/sizes.ts";
import { bytesPerBatch, type FilledTopic, fillTopics, type PeerCompression, peerFormats } from "../peers/topics.ts";

export interface PeersOptions {
  readonly rounds: number;
  readonly signal: AbortSignal;
  /** Small sizes, one round. */
  readonly quick?: boolean;
  /** A regular expression over the names of cases. */
  readonly case?: string;
  /** Each process writes a profile of the processor; one round. */
  readonly profile?: boolean;
  /** For all of it. */
  readonly minutes?: number;
  /** On top of none, lz4 and zstd. */
  readonly compressions?: readonly ("gzip" | "snappy")[];
}

const profileDir = ".cache/profiles";
const defaultMinutes = 30;

/** Those for which figures are wanted. */
const compressionsOfFigures: readonly PeerCompression[] = ["none", "lz4", "zstd"];

/** What is measured beside reading topics, by the names of the cases. */
const workersCase = "workers";
const casesOnKafka: Readonly<Record<string, (options: CaseOptions) => Promise<CaseOutcome>>> = {
  latency: measureLatency,
  idle: measureIdle,
};
const casesWithoutKafka: Readonly<Record<string, (sizes: PeerSizes, signal: AbortSignal) => Promise<CaseOutcome>>> = {
  columns: measureColumnsCase,
  operations: measureOperations,
};

function consumeCase({ format, compression, isLong }: Pick<FilledTopic, "format" | "compression" | "isLong">): string {
  return `consume ${format} ${compression}${isLong ? " long" : ""}`;
}

/** Ours beside other clients, on a Kafka that the run starts: every row of the table of figures. */
export async function runPeers(options: PeersOptions): Promise<{ text: string; result: object; files: Readonly<Record<string, string>> }> {
  const run = new PeersRun(options);
  const result = await run.measure();
  const name = options.quick === true ? "peers-quick" : "peers";
  const isComplete = options.case === undefined && options.profile !== true;
  const report = peersReport(result);
  return {
    text: options.profile === true ? `${report}\nProfiles: ${profileDir}` : report,
    result,
    files: isComplete
      ? { [`bench/results/${name}.json`]: `${JSON.stringify(result, null, 2)}\n`, [`bench/results/${name}.md`]: report }
      : {},
  };
}

class PeersRun {
  readonly #options: PeersOptions;
  readonly #sizes: PeerSizes;
  readonly #startedAt = performance.now();
  readonly #rows: Row[] = [];
  readonly #others: Record<string, object> = {};

  constructor(options: PeersOptions) {
    this.#options = options;
    this.#sizes = options.quick === true ? quickSizes : fullSizes;
  }

  async measure(): Promise<object> {
    const about = environment();
    const versions = { ...about.versions, ...toolVersions() };
    const topics = this.#topics();
    const names = [...topics.map(consumeCase), workersCase, ...Object.keys(casesOnKafka), ...Object.keys(casesWithoutKafka)];
    if (!names.some((name) => this.#isChosen(name))) {
      throw new TypeError(`--case ${this.#options.case} chooses nothing; there are ${names.join(", ")}`);
    }
    // Reading topics comes last: it has as many rounds as the others leave time for.
    await this.#measureWorkers();
    for (const [name, measure] of Object.entries(casesWithoutKafka)) {
      await this.#record(name, () => measure(this.#sizes, this.#options.signal));
    }
    const consumed = await this.#measureOnKafka(topics.filter((topic) => this.#isChosen(consumeCase(topic))));
    return {
      environment: { ...about, versions },
      isQuick: this.#options.quick === true,
      seconds: (performance.now() - this.#startedAt) / 1_000,
      rounds: consumed.rounds,
      messages: this.#sizes.messages,
      longMessages: this.#sizes.longMessages,
      bytesPerBatch,
      sides: sides.map(({ name, kind, about: what }) => ({ name, kind, about: what })),
      rows: [...consumeRows(consumed.figures), ...this.#rows],
      consume: consumed.figures,
      others: this.#others,
    };
  }

  #topics(): readonly FilledTopic[] {
    const { messages, longMessages } = this.#sizes;
    const topicsOf = (compression: PeerCompression, isLong: boolean): readonly FilledTopic[] =>
      peerFormats.map((format) => ({
        topic: `${format}-${compression}${isLong ? "-long" : ""}`,
        format,
        compression,
        isLong,
        partitions: 1,
        messages: (isLong ? longMessages : messages)[format],
      }));
    const ofLength = (isLong: boolean): readonly FilledTopic[] =>
      [...compressionsOfFigures, ...(this.#options.compressions ?? [])].flatMap((compression) => topicsOf(compression, isLong));
    return [...ofLength(false), ...ofLength(true)];
  }

  #isChosen(name: string): boolean {
    return this.#options.case === undefined || new RegExp(this.#options.case).test(name);
  }

  /** On a Kafka of its own, which waits until both threads have joined. */
  async #measureWorkers(): Promise<void> {
    await this.#record(workersCase, () => {
      const config = { "group.initial.rebalance.delay.ms": 2_000 };
      return withOwnKafka({ signal: this.#options.signal, config }, (kafka) => measureWorkers(this.#caseOptions(kafka)));
    });
  }

  async #measureOnKafka(topics: readonly FilledTopic[]): Promise<ConsumeOutcome> {
    const others = Object.entries(casesOnKafka).filter(([name]) => this.#isChosen(name));
    if (topics.length === 0 && others.length === 0) {
      return { rounds: 0, figures: [] };
    }
    return withOwnKafka({ signal: this.#options.signal }, async (kafka) => {
      for (const [name, measure] of others) {
        await this.#record(name, () => measure(this.#caseOptions(kafka)));
      }
      this.#say(`filling ${topics.length} topics`);
      await fillTopics(kafka.brokers, topics, this.#options.signal);
      const { quick = false, profile = false, rounds, minutes = defaultMinutes } = this.#options;
      const endsByMs = this.#startedAt + minutes * 60_000;
      const { machine, say, sizes } = this.#caseOptions(kafka);
      return measureConsume({
        kafka,
        topics,
        sizes,
        rounds: quick || profile ? 1 : rounds,
        endsByMs,
        machine: { ...machine, classPath: kafka.classPath },
        say,
      });
    });
  }

  async #record(name: string, measure: () => Promise<CaseOutcome>): Promise<void> {
    if (!this.#isChosen(name)) {
      return;
    }
    this.#options.signal.throwIfAborted();
    this.#say(name);
    try {
      const { rows, result } = await measure();
      this.#rows.push(...rows);
      this.#others[name] = result;
    } catch (error) {
      this.#options.signal.throwIfAborted();
      const why = error instanceof Error ? error.message : String(error);
      this.#say(`${name}: not run: ${why}`);
      this.#rows.push({ figure: name, wanted: "-", cells: [notRun(why)] });
    }
  }

  #caseOptions(kafka: OwnKafka): CaseOptions {
    const { signal, profile } = this.#options;
    return {
      kafka,
      sizes: this.#sizes,
      machine: { signal, deadlineSeconds: 120, profileDir: profile === true ? resolve(profileDir) : null },
      say: (line) => this.#say(line),
    };
  }

  #say(line: string): void {
    const seconds = Math.round((performance.now() - this.#startedAt) / 1_000);
    process.stderr.write(`${String(seconds).padStart(5)} s  ${line}\n`);
  }
}
