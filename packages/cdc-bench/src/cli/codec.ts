import { type Command, Option } from "commander";
import { BenchError } from "../bench-error.ts";
import { listCodecs, rowCodecs } from "../codec/codecs-of.ts";
import { hasZstd } from "../codec/codecs/compressed.ts";
import { createDataSet, type DataSet, seededDataSets } from "../codec/data-sets.ts";
import { parseLink } from "../codec/link.ts";
import { type CodecMeasure, measureCodecs } from "../codec/measure-codecs.ts";
import { readDataFile } from "../codec/own-file.ts";
import { exitCodes, type ExitCode } from "../exit-codes.ts";
import { codecJson, codecMetrics, type CodecMode, type CodecSuite, codecText } from "../report/codec-report.ts";
import { describeEnvironment, versionsOf } from "../report/environment.ts";
import { toJsonText } from "../report/json-text.ts";
import { createProgress, type Progress } from "../report/progress.ts";
import { openResultSink } from "../report/result-sink.ts";
import type { Terminal } from "../terminal.ts";
import { judge, verdictExitCode } from "../verdict/verdict.ts";
import { addDemandFlags, type DemandFlags, resolveDemands } from "./demand-options.ts";
import { collectNames, parseCount } from "./option-values.ts";

interface CodecFlags extends DemandFlags {
  readonly suite?: readonly string[];
  readonly data?: string;
  readonly mode: CodecMode | "both";
  readonly rows?: number;
  readonly rounds?: number;
  readonly seed: number;
  readonly quick?: boolean;
  readonly link?: number;
  readonly json?: boolean;
  readonly output?: string;
}

/** The packages that are measured beside ours; avsc is always named. */
const peers = ["ajv", "protobufjs", "@msgpack/msgpack", "cborg", "snappyjs"];
/** How long passes are repeated in a round. */
const minPassMs = 50; // the clock and a collection are small beside it
const defaultRounds = 5;
const quick = { rounds: 3, maxRows: 5_000, minPassMs: 10 } as const;

export function addCodec(program: Command, terminal: Terminal, settle: (code: ExitCode) => void): void {
  const command = program
    .command("codec")
    .description("No broker needed: what each codec costs in memory to write and to read, and how large its bytes are.");
  addDemandFlags(command)
    .option("--suite <names>", `data sets, separated by commas: ${Object.keys(seededDataSets).join(", ")} (default: all)`, collectNames)
    .option("--data <file>", "rows of your own in place of a suite: a JSON array of objects, or one object a line")
    .addOption(new Option("--mode <mode>", "how rows are written").choices(["list", "objects", "both"]).default("both"))
    .option("--rows <n>", "so many rows (default: what the published benchmark has)", parseCount)
    .option("--rounds <n>", `so many rounds (default: ${defaultRounds})`, parseCount)
    .option("--seed <n>", "what the rows are made from", parseCount, 1)
    .option("--quick", `at most ${quick.maxRows} rows and ${quick.rounds} rounds`)
    .option("--link <rate>", "add the time that a link of this rate takes, such as 100mbit", parseLink)
    .option("--json", "the results as one JSON object")
    .option("-o, --output <file>", "write the results to a file in place of stdout")
    .action(async (flags: CodecFlags) => settle(await codec(flags, terminal)));
}

async function codec(flags: CodecFlags, terminal: Terminal): Promise<ExitCode> {
  const { interrupt } = terminal;
  const demands = resolveDemands(flags, "codec");
  const sets = dataSetsOf(flags);
  const rounds = flags.rounds ?? (flags.quick === true ? quick.rounds : defaultRounds);
  const minMs = flags.quick === true ? quick.minPassMs : minPassMs;
  const sink = await openResultSink(terminal, flags.output);
  const progress = createProgress(terminal);
  try {
    const suites: CodecSuite[] = [];
    for (const createSet of sets) {
      const set = createSet();
      for (const mode of flags.mode === "both" ? (["list", "objects"] as const) : [flags.mode]) {
        const codecs = await measureMode(set, mode, { rounds, minMs, interrupt }, progress);
        suites.push({ suite: set.name, title: set.title, mode, rows: set.rows.length, codecs });
      }
    }
    progress.end();
    const measured = suites.filter(({ codecs }) => codecs.length > 0);
    const verdict = judge(codecMetrics(measured), demands);
    const environment = describeEnvironment(versionsOf(peers));
    const notes = hasZstd ? [] : ["zstd is left out: Node has it from 22.15 on."];
    const aborted = interrupt.aborted;
    const report = { aborted, environment, seed: flags.seed, rounds, link: flags.link ?? null, suites: measured, notes, verdict };
    await sink.write(flags.json === true ? `${toJsonText(codecJson(report))}\n` : codecText(report));
    return aborted ? exitCodes.interrupted : verdictExitCode(verdict);
  } finally {
    progress.end();
    await sink.close();
  }
}

/** Data sets are made one after the other: the largest takes a hundred megabytes. */
function dataSetsOf({ suite, data, rows, seed, quick: isQuick }: CodecFlags): readonly (() => DataSet)[] {
  if (data !== undefined) {
    if (suite !== undefined) {
      throw new BenchError("usage", "--data and --suite exclude each other: rows come from your file or from a seed.");
    }
    const set = readDataFile(data);
    return [() => (rows === undefined ? set : { ...set, rows: set.rows.slice(0, rows) })];
  }
  return (suite ?? Object.keys(seededDataSets)).map((name) => {
    const seeded = Object.hasOwn(seededDataSets, name) ? seededDataSets[name] : undefined;
    if (seeded === undefined) {
      throw new BenchError("usage", `there is no suite ${name}; there are ${Object.keys(seededDataSets).join(", ")}.`);
    }
    const count = rows ?? (isQuick === true ? Math.min(quick.maxRows, seeded.rows) : seeded.rows);
    return () => createDataSet(name, seeded, count, seed);
  });
}

function measureMode(
  set: DataSet,
  mode: CodecMode,
  how: { readonly rounds: number; readonly minMs: number; readonly interrupt: AbortSignal },
  progress: Progress,
): Promise<readonly CodecMeasure[]> {
  const onProgress = (name: string, round: number): void =>
    progress.update(() => `${set.name}, ${mode}: ${round === 0 ? "warming up" : `round ${round} of ${how.rounds}`}, ${name}`);
  const common = { ...how, onProgress };
  return mode === "list"
    ? measureCodecs({ codecs: listCodecs(set.shape), values: [set.rows], ...common })
    : measureCodecs({ codecs: rowCodecs(set.shape), values: set.rows, ...common });
}
