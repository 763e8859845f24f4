import type { JsonSchemaValidator, SchemaSource } from "@cdckit/decode";
import { BenchError } from "../../bench-error.ts";
import { exitCodes, type ExitCode } from "../../exit-codes.ts";
import { withoutLogin } from "../../leftovers/thing.ts";
import { throwAwayGroup, type TopicExtent } from "../../load/cluster.ts";
import { decompressedMs } from "../../load/decompression-time.ts";
import { whileWaiting } from "../../load/driver-wait-text.ts";
import { missingSchemasNote, openSchemas, requireRegistry } from "../../load/schemas.ts";
import { openingPhase, type Source } from "../../load/source.ts";
import { openTopicSource, type TopicSource } from "../../load/topic-source.ts";
import { readingEndOf, requireWhole } from "../../load/whole-reading.ts";
import { measureReading, type ReadingDetails, type ReadingMeasure, type ReadingOptions, type ReadingSoFar } from "../../measure/reading.ts";
import { describeEnvironment } from "../../report/environment.ts";
import { createObserver, type Observation, type Observer } from "../../observe/observer.ts";
import { formatCount } from "../../report/quantities.ts";
import { openResultSink } from "../../report/result-sink.ts";
import { type RunTime, startRunTime } from "../../result/run-time.ts";
import { runMetrics, type RunParts, runResult, type RunSettings, type TopicRun } from "../../result/run-result.ts";
import type { Terminal } from "../../terminal.ts";
import { type Demands, judge, verdictExitCode } from "../../verdict/verdict.ts";
import { resolveDemands } from "../demand-options.ts";
import { openProfiling } from "../profile-options.ts";
import { writeResult } from "../result-options.ts";
import { resolveSource } from "../resolve-source.ts";
import type { RunFlags } from "../run.ts";

/** A backlog that sends nothing for so long has nothing left: its last offsets may be transaction markers. */
const maxIdleMs = 10_000;

export async function run(flags: RunFlags, terminal: Terminal): Promise<ExitCode> {
  const source = resolveSource(flags, terminal.env);
  if (source.kind === "file" && flags.tail === true) {
    throw new BenchError("usage", "--tail waits for new records, and a recording gets none: give --brokers and --topics.");
  }
  if (flags.processes !== undefined) {
    const { runProcesses } = await import("./run-processes.ts");
    const topics = source.kind === "cluster" ? source.topics : [];
    return runProcesses(source, flags.processes, settingsOf(source, flags, topics), flags, terminal);
  }
  const demands = resolveDemands(flags, "run");
  const schemas = openSchemas(source);
  const profiling = openProfiling(flags, "run");
  const sink = await openResultSink(terminal, flags.output);
  const observer = createObserver(terminal);
  observer.observe(() => ({ phase: openingPhase(source) }));
  const topics = await requireRegistry(source.registry)
    .then(() => openTopicSource(source, observer, terminal))
    .finally(() => observer.end());
  const runTime = startRunTime();
  try {
    const validator = flags.validate === true ? (await import("@cdckit/json-schema")).jsonSchemaValidator : undefined;
    const { runs, failure } = await profiling.record(() => new Runner(topics, { schemas, validator }, flags, terminal, observer).runAll());
    if (failure !== null && runs.length === 0) {
      throw failure.error;
    }
    const aborted = failure !== null || terminal.interrupt.aborted;
    const parts = {
      ...runTime(),
      aborted,
      heldBack: [...topics.heldBack.values()],
      ...partsOf(source, flags, runs, demands),
    };
    await writeResult(sink, flags, await profiling.addTo(runResult(parts)));
    terminal.stderr.write(missingSchemasNote(runs.flatMap(({ measure }) => measure.errors)));
    if (failure !== null) {
      throw failure.error;
    }
    return endOf(parts, topics, flags);
  } finally {
    await topics.close();
    await sink.close();
  }
}

/** What the decoder is made of. */
interface DecodingParts {
  readonly schemas: SchemaSource | undefined;
  readonly validator: JsonSchemaValidator | undefined;
}

/** The topics that were read, and why the next one was not. */
interface Runs {
  readonly runs: readonly TopicRun[];
  readonly failure: { readonly error: unknown } | null;
}

class Runner {
  readonly #source: TopicSource;
  readonly #schemas: SchemaSource | undefined;
  readonly #validator: JsonSchemaValidator | undefined;
  readonly #flags: RunFlags;
  readonly #terminal: Terminal;
  readonly #observer: Observer;
  #groupsLeft: string | null = null;

  constructor(source: TopicSource, { schemas, validator }: DecodingParts, flags: RunFlags, terminal: Terminal, observer: Observer) {
    this.#source = source;
    this.#schemas = schemas;
    this.#validator = validator;
    this.#flags = flags;
    this.#terminal = terminal;
    this.#observer = observer;
  }

  /** Topics one after the other, so that each has the machine to itself; a live stream all together. What fails does not cost those before it. */
  async runAll(): Promise<Runs> {
    const { extents } = this.#source;
    const runs: TopicRun[] = [];
    try {
      if (this.#flags.tail === true) {
        const topics = extents.map(({ topic }) => topic);
        runs.push({ topics, expectedRecords: null, measure: await this.#tail(topics) });
        return { runs, failure: null };
      }
      for (const extent of extents) {
        if (this.#terminal.interrupt.aborted) {
          break;
        }
        const measure = await this.#drain(extent, `[${runs.length + 1}/${extents.length}] ${extent.topic}`);
        runs.push({ topics: [extent.topic], expectedRecords: extent.maxRecords, measure });
      }
      return { runs, failure: null };
    } catch (error) {
      return { runs, failure: { error } };
    } finally {
      this.#observer.end();
    }
  }

  #tail(topics: readonly string[]): Promise<ReadingMeasure> {
    return this.#read({
      topics,
      from: "latest",
      end: this.#maxRecords(),
      maxIdleMs: undefined,
      measureLatency: true,
      onProgress: (soFar, details) => this.#observe(`following ${topics.join(", ")}`, soFar, details),
    });
  }

  #drain(extent: TopicExtent, title: string): Promise<ReadingMeasure> {
    const total = Math.min(Number(extent.maxRecords), this.#flags.limit ?? Number.POSITIVE_INFINITY);
    return this.#read({
      topics: [extent.topic],
      from: "earliest",
      end: { ...readingEndOf(extent), ...this.#maxRecords() },
      maxIdleMs,
      measureLatency: false,
      onProgress: (soFar, details) => this.#observe(title, soFar, details, { total, countsOffsets: true, lag: total - soFar.records }),
    });
  }

  #observe(phase: string, { records }: ReadingSoFar, details: () => ReadingDetails, more: Partial<Observation> = {}): void {
    this.#observer.observe(() => {
      const { stages, latencyMs, ...waiting } = details();
      return {
        phase: whileWaiting(phase, waiting),
        done: records,
        ...more,
        stages,
        ...(latencyMs && { latencyMs }),
      };
    });
  }

  /** What is said of groups that stay is said once: it holds for those of all topics. */
  async #forget(groupId: string): Promise<void> {
    const left = await this.#source.forgetGroup(groupId);
    if (left !== null && this.#groupsLeft === null) {
      this.#groupsLeft = left;
      this.#observer.note(left);
    }
  }

  #maxRecords(): { readonly maxRecords?: number } {
    return this.#flags.limit === undefined ? {} : { maxRecords: this.#flags.limit };
  }

  async #read(
    options: Pick<ReadingOptions, "topics" | "from" | "end" | "maxIdleMs" | "measureLatency" | "onProgress">,
  ): Promise<ReadingMeasure> {
    const groupId = throwAwayGroup();
    try {
      return await measureReading({
        ...options,
        groupId,
        driver: this.#source.createDriver(),
        schemas: this.#schemas,
        ...(this.#validator && { validator: this.#validator }),
        commits: this.#flags.commit === true,
        decompressedMs,
        maxDurationMs: this.#flags.duration,
        interrupt: this.#terminal.interrupt,
        ...(this.#terminal.logger && { logger: this.#terminal.logger }),
      });
    } finally {
      await this.#forget(groupId);
    }
  }
}

function partsOf(source: Source, flags: RunFlags, runs: readonly TopicRun[], demands: Demands): Omit<RunParts, keyof RunTime | "aborted"> {
  return {
    environment: describeEnvironment(),
    settings: settingsOf(
      source,
      flags,
      runs.flatMap(({ topics }) => topics),
    ),
    runs,
    verdict: judge(runMetrics(runs), demands),
  };
}

function settingsOf(source: Source, flags: RunFlags, topics: readonly string[]): RunSettings {
  return {
    mode: flags.tail === true ? "tail" : "drain",
    source: source.kind === "cluster" ? source.connection.brokers.join(",") : source.file,
    topics,
    registry: source.registry === undefined ? null : withoutLogin(source.registry.url),
    maxRecords: flags.limit ?? null,
    maxDurationMs: flags.duration ?? null,
    ...(flags.registryIds !== undefined && { registryIds: flags.registryIds }),
    fetchBytes: flags.fetchBytes ?? null,
    ...(flags.maxDecompressedBytes !== undefined && { maxDecompressedBytes: flags.maxDecompressedBytes }),
    ...(flags.validate === true && { validate: true }),
    ...((flags.commit === true || flags.processes !== undefined) && { commit: true }),
    ...(flags.processes !== undefined && { processes: flags.processes }),
  };
}

function endOf({ aborted, runs, verdict }: RunParts, { heldBack }: TopicSource, flags: RunFlags): ExitCode {
  if (aborted) {
    return exitCodes.interrupted;
  }
  if (runs.some(({ measure }) => measure.errorRecords > 0)) {
    return exitCodes.decodeErrors;
  }
  runs.forEach(({ topics, measure }) => requireWhole(topics, measure));
  const short = runs.find(({ measure }) => measure.records < (flags.limit ?? 1) && measure.outcome !== "time-up");
  const none = runs.find(({ measure }) => measure.records === 0);
  const lacking = short ?? none;
  if (lacking !== undefined) {
    const asked = flags.limit === undefined ? "" : ` of the ${formatCount(flags.limit)} that -n asks for`;
    const held = lacking.topics.map((topic) => heldBack.get(topic)).find((note) => note !== undefined);
    const gave = `${lacking.topics.join(", ")} gave ${formatCount(lacking.measure.records)} records${asked}`;
    throw new BenchError("too-few-messages", held === undefined ? `${gave}: seed the topic, or ask for less.` : `${gave}. ${held}.`);
  }
  return verdictExitCode(verdict);
}
