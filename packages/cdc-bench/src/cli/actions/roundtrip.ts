import { BenchError } from "../../bench-error.ts";
import { createDataSet, type DataSet, seededDataSets } from "../../codec/data-sets.ts";
import { compressions } from "../../codec/codecs/compressed.ts";
import { readDataFile } from "../../codec/own-file.ts";
import { exitCodes, type ExitCode } from "../../exit-codes.ts";
import { cleanLeftovers, openLeftovers } from "../../leftovers/leftovers.ts";
import { createRemover } from "../../leftovers/removers.ts";
import { createObserver } from "../../observe/observer.ts";
import { describeEnvironment, versionsOf } from "../../report/environment.ts";
import { formatCount } from "../../report/quantities.ts";
import { openResultSink } from "../../report/result-sink.ts";
import { startRunTime } from "../../result/run-time.ts";
import { maxThreads, maxValuesInFlight, roundtripDefaults as defaults } from "../../scenario/roundtrip/defaults.ts";
import { type RoundtripFigures, type RoundtripPlan, RoundtripRun } from "../../scenario/roundtrip/measure-roundtrip.ts";
import { openThreads, type RoundtripTarget } from "../../scenario/roundtrip/open-threads.ts";
import { profileThreads } from "../../scenario/roundtrip/profile-threads.ts";
import { type RoundtripMeasure, roundtripMetrics, type RoundtripResult } from "../../scenario/roundtrip/roundtrip-result.ts";
import { roundtripRules } from "../../scenario/roundtrip/rules.ts";
import type { Terminal } from "../../terminal.ts";
import { type Demands, judge, verdictExitCode } from "../../verdict/verdict.ts";
import { resolveDemands } from "../demand-options.ts";
import { openProfiling } from "../profile-options.ts";
import type { Profiling } from "../../profile/profiling.ts";
import { resolveRedis } from "../redis-options.ts";
import { writeResult } from "../result-options.ts";
import type { RoundtripFlags } from "../roundtrip.ts";
import { givenBrokerFlag, requireCluster, resolveCluster } from "../resolve-source.ts";

/** What the result says it was measured with, beside kafkajs and avsc. */
const peers = ["ajv", "protobufjs", "@msgpack/msgpack", "cborg"];

export async function roundtrip(flags: RoundtripFlags, terminal: Terminal): Promise<ExitCode> {
  if (flags.clean === true) {
    return clean(flags, terminal);
  }
  const target = targetOf(flags, terminal.env);
  const remover = createRemover({ connection: target.connection ?? undefined, redisUrl: target.redisUrl ?? undefined });
  const demands = resolveDemands(flags, "roundtrip");
  const plan = planOf(flags);
  const set = dataSetOf(flags);
  const profiling = openProfiling(flags, "roundtrip");
  const sink = await openResultSink(terminal, flags.output);
  const leftovers = await openLeftovers({ command: "roundtrip", terminal, remove: remover.remove });
  const observer = createObserver(terminal);
  const runTime = startRunTime();
  try {
    const figures = await measure(flags, { target, plan, set }, terminal, { leftovers, observer }, profiling);
    observer.end();
    const result = resultOf(flags, { target, plan, set }, figures, demands, { ...runTime(), aborted: terminal.interrupt.aborted });
    await writeResult(sink, flags, await profiling.addTo(result));
    return result.aborted ? exitCodes.interrupted : verdictExitCode(result);
  } finally {
    observer.end();
    await leftovers.close();
    await remover.close();
    await sink.close();
  }
}

/** With the addresses and logins that there are: what was left says itself where it is. */
async function clean(flags: RoundtripFlags, terminal: Terminal): Promise<ExitCode> {
  const { connection } = resolveCluster(flags, terminal.env);
  const redisUrl = flags.redis === undefined && terminal.env["REDIS_URL"] === undefined ? undefined : resolveRedis(flags, terminal.env);
  const remover = createRemover({ connection, redisUrl });
  try {
    return await cleanLeftovers({ terminal, remove: remover.remove });
  } finally {
    await remover.close();
  }
}

interface Measured {
  readonly target: RoundtripTarget;
  readonly plan: RoundtripPlan;
  readonly set: DataSet;
}

async function measure(
  flags: RoundtripFlags,
  { target, plan, set }: Measured,
  { interrupt }: Terminal,
  world: Pick<Parameters<typeof openThreads>[1], "leftovers" | "observer">,
  profiling: Profiling,
): Promise<RoundtripFigures> {
  const threads = await openThreads(
    {
      target,
      set,
      plugIns: flags.codec ?? [],
      codecNames: flags.codecs ?? [],
      threads: flags.threads,
      valuesInFlight: plan.inFlight * plan.batch,
      timeoutMs: flags.timeout,
    },
    { ...world, interrupt },
  );
  try {
    const run = (): Promise<RoundtripFigures> => new RoundtripRun(threads, plan, interrupt, world.observer).measure();
    return await (profiling.isWanted ? profileThreads(threads, run, profiling.addThread) : run());
  } finally {
    await Promise.all(threads.map((thread) => thread.close()));
  }
}

function targetOf(flags: RoundtripFlags, env: Terminal["env"]): RoundtripTarget {
  if (flags.via !== "kafka") {
    const stray = flags.brokers === undefined ? givenBrokerFlag(flags) : "--brokers";
    if (stray !== undefined) {
      throw new BenchError("usage", `${stray} goes with --via kafka, not with --via ${flags.via}.`);
    }
    return { via: flags.via, connection: null, redisUrl: resolveRedis(flags, env) };
  }
  if (flags.redis !== undefined) {
    throw new BenchError("usage", "--redis goes with --via redis or redis-streams, not with --via kafka.");
  }
  const { connection } = requireCluster(flags, env);
  return { via: "kafka", connection, redisUrl: null };
}

function planOf(flags: RoundtripFlags): RoundtripPlan {
  const { via, inFlight, batch, threads, rounds, duration, quick } = flags;
  if (rounds !== undefined && duration !== undefined) {
    throw new BenchError("usage", "--rounds and --duration exclude each other: a run ends after a number or after a time.");
  }
  if (threads > maxThreads) {
    throw new BenchError("usage", `--threads must not exceed ${maxThreads}.`);
  }
  if (inFlight * batch * threads > maxValuesInFlight) {
    const asked = `--in-flight ${inFlight} x --batch ${batch} x --threads ${threads}`;
    throw new BenchError("usage", `${asked} is more than ${maxValuesInFlight} values at once: ask for less.`);
  }
  const known = via === "kafka" ? ["none", "gzip"] : ["none", ...compressions.map(({ name }) => name.split(" ")[0] ?? name)];
  const unknown = flags.compression?.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new BenchError("usage", `--compression ${unknown}: with --via ${via} and Node ${process.version} there are ${known.join(", ")}.`);
  }
  const isQuick = quick === true;
  return {
    compressions: flags.compression ?? ["none"],
    inFlight,
    batch,
    rounds: duration === undefined ? (rounds ?? (isQuick ? defaults.quick.rounds : defaults.rounds)) : null,
    durationMs: duration ?? null,
    warmupRounds: flags.warmup,
    blocks: defaults.blocks,
    evolves: flags.evolve,
    memoryRounds: isQuick ? defaults.quick.memoryRounds : defaults.memoryRounds,
    memoryMinMs: isQuick ? defaults.quick.memoryMinMs : defaults.memoryMinMs,
  };
}

function dataSetOf({ suite, data, rows, seed }: RoundtripFlags): DataSet {
  if (data !== undefined) {
    if (suite !== undefined) {
      throw new BenchError("usage", "--data and --suite exclude each other: rows come from your file or from a seed.");
    }
    const set = readDataFile(data);
    return { ...set, rows: set.rows.slice(0, rows ?? defaults.rows) };
  }
  const name = suite ?? defaults.suite;
  const seeded = Object.hasOwn(seededDataSets, name) ? seededDataSets[name] : undefined;
  if (seeded === undefined) {
    throw new BenchError("usage", `there is no suite ${name}; there are ${Object.keys(seededDataSets).join(", ")}.`);
  }
  return createDataSet(name, seeded, rows ?? Math.min(defaults.rows, seeded.rows), seed);
}

function resultOf(
  flags: RoundtripFlags,
  { target, plan, set }: Measured,
  figures: RoundtripFigures,
  demands: Demands,
  run: Pick<RoundtripResult, "startedAt" | "elapsedMs" | "aborted">,
): RoundtripResult {
  const { memory, roundtrips, evolution } = figures;
  const place = target.redisUrl === null ? (target.connection?.brokers.join(",") ?? "") : new URL(target.redisUrl).host;
  return {
    schemaVersion: 1,
    command: "roundtrip",
    ...run,
    environment: describeEnvironment(versionsOf(target.via === "kafka" ? peers : [...peers, "@redis/client"])),
    settings: { via: target.via, place, suite: set.name, rows: set.rows.length, seed: flags.seed, threads: flags.threads, ...plan },
    rules: roundtripRules(target.via),
    notes: roundtripNotes(roundtrips, run.aborted),
    via: target.via,
    payload: { suite: set.name, title: set.title, rows: set.rows.length },
    memory,
    roundtrips,
    evolution,
    ...judge(roundtripMetrics(set.rows.length, memory, roundtrips), demands),
  };
}

/** By what was measured: a run may end after a time, or by Ctrl-C. */
export function roundtripNotes(roundtrips: readonly Pick<RoundtripMeasure, "rounds">[], aborted: boolean): readonly string[] {
  const fewest = Math.min(...roundtrips.map(({ rounds }) => rounds));
  return [
    ...(roundtrips.length === 0 && aborted ? ["Interrupted before the first round ended: there are no figures."] : []),
    ...(fewest < 1_000
      ? [`With ${formatCount(fewest)} rounds p99 rests on ${Math.max(1, Math.round(fewest / 100))} of them: --rounds 10k gives it more.`]
      : []),
  ];
}
