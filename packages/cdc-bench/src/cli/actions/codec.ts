import { BenchError } from "../../bench-error.ts";
import { codecMetrics, type CodecMode, type CodecResult, type CodecSuite, withLink } from "../../codec/codec-result.ts";
import { listCodecs, rowCodecs } from "../../codec/codecs-of.ts";
import { hasZstd } from "../../codec/codecs/compressed.ts";
import { createDataSet, type DataSet, seededDataSets } from "../../codec/data-sets.ts";
import { type CodecMeasure, type CodecTrial, measureCodecs } from "../../codec/measure-codecs.ts";
import { readDataFile } from "../../codec/own-file.ts";
import { readTopicRows } from "../../codec/topic-rows.ts";
import { exitCodes, type ExitCode } from "../../exit-codes.ts";
import { createObserver, type Observer } from "../../observe/observer.ts";
import { describeEnvironment, versionsOf } from "../../report/environment.ts";
import { openResultSink } from "../../report/result-sink.ts";
import { startRunTime } from "../../result/run-time.ts";
import type { Terminal } from "../../terminal.ts";
import { type Demands, judge, verdictExitCode } from "../../verdict/verdict.ts";
import { resolveDemands } from "../demand-options.ts";
import { openProfiling } from "../profile-options.ts";
import type { Profiling } from "../../profile/profiling.ts";
import { writeResult } from "../result-options.ts";
import { resolveSource } from "../resolve-source.ts";
import { defaultRounds, quick } from "../../codec/how-much.ts";
import type { CodecFlags } from "../codec.ts";

/** Makes a data set when its turn has come: the largest takes a hundred megabytes. */
type CreateDataSet = (observer: Observer, notes: string[]) => Promise<DataSet>;

/** The packages that are measured beside ours; avsc is always named. */
const peers = ["ajv", "protobufjs", "@msgpack/msgpack", "cborg", "snappyjs"];
/** How long passes are repeated in a round. */
const minPassMs = 50; // the clock and a collection are small beside it
/** Rows that are taken of a topic unless --rows says more. */
const defaultTopicRows = 10_000;

const rules: readonly string[] = [
  "Codecs take turns within every round, the one that goes first changes, the first round does not count, and medians stand for the others.",
  "Before it is measured, each codec must give back what it was given.",
  "Allocated: growth of the heap and of buffers outside of it in one pass over all rows, measured in a pass that is not timed.",
  "No network is in these times. Transport is computed: bytes x 8 / rate, without latency and headers of packets.",
  "MB is 10^6 bytes.",
];

export async function codec(flags: CodecFlags, terminal: Terminal): Promise<ExitCode> {
  const demands = resolveDemands(flags, "codec");
  const sets = dataSetsOf(flags, terminal);
  const profiling = openProfiling(flags, "codec");
  const sink = await openResultSink(terminal, flags.output);
  const observer = createObserver(terminal);
  observer.observe(() => ({ phase: "loading codecs" }));
  try {
    const result = await measureSets(sets, flags, terminal.interrupt, observer, demands, profiling);
    observer.end();
    await writeResult(sink, flags, await profiling.addTo(result));
    return result.aborted ? exitCodes.interrupted : verdictExitCode(result);
  } finally {
    observer.end();
    await sink.close();
  }
}

async function measureSets(
  sets: readonly CreateDataSet[],
  flags: CodecFlags,
  interrupt: AbortSignal,
  observer: Observer,
  demands: Demands,
  profiling: Profiling,
): Promise<CodecResult> {
  const runTime = startRunTime();
  const rounds = flags.rounds ?? (flags.quick === true ? quick.rounds : defaultRounds);
  const minMs = flags.quick === true ? quick.minPassMs : minPassMs;
  const notes = hasZstd ? [] : ["zstd is left out: Node has it from 22.15 on."];
  const suites: CodecSuite[] = [];
  for (const createSet of sets) {
    if (interrupt.aborted) {
      break;
    }
    const set = await createSet(observer, notes);
    for (const mode of flags.mode === "both" ? (["list", "objects"] as const) : [flags.mode]) {
      if (interrupt.aborted) {
        break;
      }
      const codecs = await profiling.record(() => measureMode(set, mode, { rounds, minMs, interrupt }, observer));
      suites.push({ suite: set.name, title: set.title, mode, rows: set.rows.length, codecs });
    }
  }
  const measured = suites.filter(({ codecs }) => codecs.length > 0);
  const { seed, link = null, mode } = flags;
  return {
    schemaVersion: 1,
    command: "codec",
    ...runTime(),
    aborted: interrupt.aborted,
    environment: describeEnvironment(versionsOf(peers)),
    settings: { suites: measured.map(({ suite }) => suite), mode, rounds, minPassMs: minMs, seed, linkBitsPerSecond: link },
    rules,
    notes,
    seed,
    rounds,
    linkBitsPerSecond: link,
    suites: measured.map((suite) => withLink(suite, link)),
    ...judge(codecMetrics(measured), demands),
  };
}

function dataSetsOf(flags: CodecFlags, terminal: Terminal): readonly CreateDataSet[] {
  const { suite, data, rows } = flags;
  const isFromTopic = flags.file !== undefined || flags.topics !== undefined || flags.brokers !== undefined;
  if ([suite !== undefined, data !== undefined, isFromTopic].filter(Boolean).length > 1) {
    throw new BenchError("usage", "--suite, --data and --topics or --file exclude each other: rows come from one place.");
  }
  if (data !== undefined) {
    const set = readDataFile(data);
    return [async () => (rows === undefined ? set : { ...set, rows: set.rows.slice(0, rows) })];
  }
  if (isFromTopic) {
    const source = resolveSource(flags, terminal.env);
    const maxRows = rows ?? (flags.quick === true ? quick.maxRows : defaultTopicRows);
    return [
      async (observer, notes) => {
        const onProgress = (done: number): void => observer.observe(() => ({ phase: "reading rows", done, total: maxRows, unit: "rows" }));
        const read = await readTopicRows({ source, maxRows, interrupt: terminal.interrupt, onProgress });
        notes.push(...read.notes);
        return read.set;
      },
    ];
  }
  return (suite ?? Object.keys(seededDataSets)).map((name) => seededSet(name, flags));
}

function seededSet(name: string, { rows, seed, quick: isQuick }: CodecFlags): CreateDataSet {
  const seeded = Object.hasOwn(seededDataSets, name) ? seededDataSets[name] : undefined;
  if (seeded === undefined) {
    throw new BenchError("usage", `there is no suite ${name}; there are ${Object.keys(seededDataSets).join(", ")}.`);
  }
  const count = rows ?? (isQuick === true ? Math.min(quick.maxRows, seeded.rows) : seeded.rows);
  return async () => createDataSet(name, seeded, count, seed);
}

function measureMode(
  set: DataSet,
  mode: CodecMode,
  how: { readonly rounds: number; readonly minMs: number; readonly interrupt: AbortSignal },
  observer: Observer,
): Promise<readonly CodecMeasure[]> {
  return mode === "list"
    ? measureObserved(`${set.name}, list`, listCodecs(set.shape), [set.rows], how, observer)
    : measureObserved(`${set.name}, objects`, rowCodecs(set.shape), set.rows, how, observer);
}

function measureObserved<T>(
  title: string,
  codecs: CodecTrial<T>["codecs"],
  values: readonly T[],
  how: Pick<CodecTrial<T>, "rounds" | "minMs" | "interrupt">,
  observer: Observer,
): Promise<readonly CodecMeasure[]> {
  const total = codecs.length * (how.rounds + 2);
  let turns = 0;
  return measureCodecs({
    codecs,
    values,
    ...how,
    onProgress: (name, round) => {
      const done = turns++;
      const part = round < 0 ? "comparing values" : round === 0 ? "warming up" : `round ${round} of ${how.rounds}`;
      const phase = `${title}: ${part}, ${name}`;
      observer.observe(() => ({ phase, done, total, unit: "turns" }));
    },
  });
}
