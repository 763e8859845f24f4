import type { SchemaSource } from "@cdckit/decode";
import type { Command } from "commander";
import { BenchError } from "../bench-error.ts";
import { exitCodes, type ExitCode } from "../exit-codes.ts";
import { throwAwayGroup, type TopicExtent } from "../load/cluster.ts";
import { missingSchemasHint, openSchemas } from "../load/schemas.ts";
import type { Source } from "../load/source.ts";
import { openTopicSource, type TopicSource } from "../load/topic-source.ts";
import { measureReading, type ReadingMeasure, type ReadingOptions } from "../measure/reading.ts";
import { describeEnvironment } from "../report/environment.ts";
import { toJsonText } from "../report/json-text.ts";
import { createProgress, type Progress } from "../report/progress.ts";
import { formatCount } from "../report/quantities.ts";
import { openResultSink } from "../report/result-sink.ts";
import { type RunReport, runJson, runMetrics, runText, type TopicRun } from "../report/run-report.ts";
import type { Terminal } from "../terminal.ts";
import { type Demands, judge, verdictExitCode } from "../verdict/verdict.ts";
import { parseCount, parseDurationMs } from "./option-values.ts";
import { addDemandFlags, type DemandFlags, resolveDemands } from "./demand-options.ts";
import { addClusterFlags, addFileFlags, resolveSource, type SourceFlags } from "./source-options.ts";

/** A backlog that sends nothing for so long has nothing left: its last offsets may be transaction markers. */
const maxIdleMs = 10_000;

interface RunFlags extends SourceFlags, DemandFlags {
  readonly limit?: number;
  readonly duration?: number;
  readonly tail?: boolean;
  readonly json?: boolean;
  readonly output?: string;
}

export function addRun(program: Command, terminal: Terminal, settle: (code: ExitCode) => void): void {
  const command = program.command("run").description("How fast topics are consumed as they are: rates, sizes, decode times, stages.");
  addDemandFlags(addFileFlags(addClusterFlags(command)))
    .option("-n, --limit <count>", "stop each topic after this many records (100k, 2m)", parseCount)
    .option("-d, --duration <time>", "stop each topic after this long (500ms, 30s, 2m)", parseDurationMs)
    .option("--tail", "only what comes from now on, all topics together, with latencies; until -n, -d or Ctrl-C")
    .option("--json", "the results as one JSON object")
    .option("-o, --output <file>", "write the results to a file in place of stdout")
    .action(async (flags: RunFlags) => settle(await run(flags, terminal)));
}

async function run(flags: RunFlags, terminal: Terminal): Promise<ExitCode> {
  const source = resolveSource(flags, terminal.env);
  if (source.kind === "file" && flags.tail === true) {
    throw new BenchError("usage", "--tail waits for new records, and a recording gets none: give --brokers and --topics.");
  }
  const demands = resolveDemands(flags, "run");
  const schemas = openSchemas(source);
  const sink = await openResultSink(terminal, flags.output);
  const topics = await openTopicSource(source);
  try {
    const runs = await new Runner(topics, schemas, flags, terminal).runAll();
    const report = reportOf(source, flags, terminal, runs, demands);
    await sink.write(flags.json === true ? `${toJsonText(runJson(report))}\n` : runText(report));
    if (schemas === undefined && runs.some(({ measure }) => measure.errors.some(({ code }) => code === "schema-source-missing"))) {
      terminal.stderr.write(missingSchemasHint);
    }
    return endOf(report, flags);
  } finally {
    await topics.close();
    await sink.close();
  }
}

class Runner {
  readonly #source: TopicSource;
  readonly #schemas: SchemaSource | undefined;
  readonly #flags: RunFlags;
  readonly #terminal: Terminal;

  constructor(source: TopicSource, schemas: SchemaSource | undefined, flags: RunFlags, terminal: Terminal) {
    this.#source = source;
    this.#schemas = schemas;
    this.#flags = flags;
    this.#terminal = terminal;
  }

  /** Topics one after the other, so that each has the machine to itself; a live stream all together. */
  async runAll(): Promise<readonly TopicRun[]> {
    const { extents } = this.#source;
    const progress = createProgress(this.#terminal);
    try {
      if (this.#flags.tail === true) {
        const topics = extents.map(({ topic }) => topic);
        return [{ topics, expectedRecords: null, measure: await this.#tail(topics, progress) }];
      }
      const runs: TopicRun[] = [];
      for (const extent of extents) {
        if (this.#terminal.interrupt.aborted) {
          break;
        }
        const measure = await this.#drain(extent, progress, `[${runs.length + 1}/${extents.length}] ${extent.topic}`);
        runs.push({ topics: [extent.topic], expectedRecords: extent.maxRecords, measure });
      }
      return runs;
    } finally {
      progress.end();
    }
  }

  #tail(topics: readonly string[], progress: Progress): Promise<ReadingMeasure> {
    return this.#read({
      topics,
      from: "latest",
      end: this.#maxRecords(),
      maxIdleMs: undefined,
      measureLatency: true,
      onProgress: ({ records }) => progress.update(() => `${formatCount(records)} records so far`),
    });
  }

  #drain(extent: TopicExtent, progress: Progress, title: string): Promise<ReadingMeasure> {
    const nonEmpty = extent.partitions.filter(({ startOffset, endOffset }) => endOffset > startOffset);
    const endOffsets = new Map(nonEmpty.map(({ partition, endOffset }) => [partition, endOffset]));
    const total = Math.min(Number(extent.maxRecords), this.#flags.limit ?? Number.POSITIVE_INFINITY);
    return this.#read({
      topics: [extent.topic],
      from: "earliest",
      end: { endOffsets, ...this.#maxRecords() },
      maxIdleMs,
      measureLatency: false,
      onProgress: ({ records, elapsedMs }) =>
        progress.update(() => {
          const rate = elapsedMs === 0 ? 0 : (records / elapsedMs) * 1e3;
          return `${title}: ${formatCount(records)} of ${formatCount(total)} records, ${formatCount(rate)} msg/s`;
        }),
    });
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
        maxDurationMs: this.#flags.duration,
        interrupt: this.#terminal.interrupt,
      });
    } finally {
      await this.#source.forgetGroup(groupId);
    }
  }
}

function reportOf(source: Source, flags: RunFlags, terminal: Terminal, runs: readonly TopicRun[], demands: Demands): RunReport {
  return {
    aborted: terminal.interrupt.aborted,
    environment: describeEnvironment(),
    settings: {
      mode: flags.tail === true ? "tail" : "drain",
      source: source.kind === "cluster" ? source.connection.brokers.join(",") : source.file,
      topics: runs.flatMap(({ topics }) => topics),
      registry: source.registry === undefined ? null : withoutCredentials(source.registry.url),
      maxRecords: flags.limit ?? null,
      maxDurationMs: flags.duration ?? null,
      fetchBytes: flags.fetchBytes ?? null,
    },
    runs,
    verdict: judge(runMetrics(runs), demands),
  };
}

function withoutCredentials(address: string): string {
  const url = new URL(address);
  url.username = "";
  url.password = "";
  return url.href;
}

function endOf({ aborted, runs, verdict }: RunReport, flags: RunFlags): ExitCode {
  if (aborted) {
    return exitCodes.interrupted;
  }
  if (runs.some(({ measure }) => measure.errorRecords > 0)) {
    return exitCodes.decodeErrors;
  }
  const short = runs.find(({ measure }) => measure.records < (flags.limit ?? 1) && measure.outcome !== "time-up");
  const none = runs.find(({ measure }) => measure.records === 0);
  const lacking = short ?? none;
  if (lacking !== undefined) {
    const asked = flags.limit === undefined ? "" : ` of the ${formatCount(flags.limit)} that -n asks for`;
    throw new BenchError(
      "too-few-messages",
      `${lacking.topics.join(", ")} gave ${formatCount(lacking.measure.records)} records${asked}: seed the topic, or ask for less.`,
    );
  }
  return verdictExitCode(verdict);
}
