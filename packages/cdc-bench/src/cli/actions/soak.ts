import { BenchError } from "../../bench-error.ts";
import { exitCodes, type ExitCode } from "../../exit-codes.ts";
import { changeFormat, type ChangeFormat } from "../../load/change-events/index.ts";
import type { ClusterConnection } from "../../load/connection.ts";
import { connectingPhase } from "../../load/source.ts";
import { createObserver } from "../../observe/observer.ts";
import { describeEnvironment } from "../../report/environment.ts";
import { formatCount } from "../../report/quantities.ts";
import { openResultSink } from "../../report/result-sink.ts";
import { type RunTime, startRunTime } from "../../result/run-time.ts";
import { openClusterAccess } from "../../scenario/catch-up/cluster-access.ts";
import { defaultSoakMs, minSoakMs } from "../../scenario/soak/defaults.ts";
import { paceNote } from "../../scenario/soak/keeping-pace.ts";
import { runSoak, type SoakOutcome, type SoakPlan, warmUpMsOf } from "../../scenario/soak/run-soak.ts";
import type { SoakResult } from "../../scenario/soak/soak-result.ts";
import type { Terminal } from "../../terminal.ts";
import type { Metric } from "../../verdict/metric.ts";
import { percentileMetrics } from "../../verdict/metrics-of.ts";
import { type Demands, judge, verdictExitCode } from "../../verdict/verdict.ts";
import { resolveTuning } from "../catch-up-options.ts";
import { resolveDemands } from "../demand-options.ts";
import { nothingMeasured, writeResult } from "../result-options.ts";
import type { SoakFlags } from "../soak.ts";
import { requireCluster } from "../resolve-source.ts";
import { cleanWith } from "./clean-with.ts";
import { onCluster } from "./on-cluster.ts";

export async function soak(flags: SoakFlags, terminal: Terminal): Promise<ExitCode> {
  const { connection } = requireCluster(flags, terminal.env);
  if (flags.clean === true) {
    return cleanWith({ connection }, terminal);
  }
  if (flags.minutes !== undefined && flags.duration !== undefined) {
    throw new BenchError("usage", "--minutes and --duration say the same: give one of them.");
  }
  if (durationOf(flags) < minSoakMs) {
    throw new BenchError("usage", `a soak is measured in windows of 1 s: give it ${minSoakMs / 1e3} s or more.`);
  }
  const demands = resolveDemands(flags, "soak");
  const sink = await openResultSink(terminal, flags.output);
  try {
    const observer = createObserver(terminal);
    observer.note(connectingPhase(connection));
    const cluster = await openClusterAccess("soak", connection, terminal);
    const runTime = startRunTime();
    const plan: SoakPlan = { ...planOf(flags), cluster, interrupt: terminal.interrupt, observer };
    const result = await onCluster(cluster, observer, async () => resultOf(plan, connection, await runSoak(plan), demands, runTime()));
    return await ended(result, terminal, async () => writeResult(sink, flags, result));
  } finally {
    await sink.close();
  }
}

async function ended(result: SoakResult, { stderr }: Terminal, write: () => Promise<void>): Promise<ExitCode> {
  // Without a window there is no rate: an interrupt came in the first second.
  const hasMeasured = result.formats.some(({ events, windows }) => events > 0 && windows.length > 0);
  if (hasMeasured) {
    await write();
  }
  if (result.aborted) {
    if (!hasMeasured) {
      stderr.write(nothingMeasured);
    }
    return exitCodes.interrupted;
  }
  const silent = result.formats.find(({ events }) => events === 0);
  if (silent !== undefined) {
    throw new BenchError(
      "too-few-messages",
      `${silent.title}: no event came in the time that was measured. Give more of it, or a higher --rate.`,
    );
  }
  return result.formats.some(({ errorRecords }) => errorRecords > 0) ? exitCodes.decodeErrors : verdictExitCode(result);
}

function durationOf({ minutes, duration }: SoakFlags): number {
  return duration ?? (minutes === undefined ? defaultSoakMs : minutes * 60_000);
}

function planOf(flags: SoakFlags): Omit<SoakPlan, "cluster" | "interrupt" | "observer"> {
  const { partitions, writers, seed, events, rate = null } = flags;
  return {
    formats: flags.formats.map((name) => changeFormat(name) as ChangeFormat), // the flag has choices
    durationMs: durationOf(flags),
    perSecond: rate,
    records: events,
    partitions,
    writers,
    compression: "none",
    seed,
    tuning: resolveTuning(flags),
  };
}

function resultOf(plan: SoakPlan, { brokers }: ClusterConnection, outcome: SoakOutcome, demands: Demands, time: RunTime): SoakResult {
  const { formats, rssDrift } = outcome;
  const { perSecond, durationMs, partitions, records, seed, tuning } = plan;
  return {
    schemaVersion: 1,
    command: "soak",
    ...time,
    aborted: plan.interrupt.aborted,
    environment: describeEnvironment(),
    settings: {
      brokers,
      client: "kafkajs",
      formats: plan.formats.map(({ name }) => name),
      durationMs,
      warmUpMs: warmUpMsOf(durationMs),
      perSecond,
      events: perSecond === null ? records : null,
      partitions,
      seed,
      ...tuning,
    },
    rules: rulesOf(plan),
    notes: notesOf(plan, outcome),
    ...judge(metricsOf(outcome), demands),
    formats,
    rssDrift,
  };
}

function rulesOf({ perSecond, durationMs }: SoakPlan): readonly string[] {
  return [
    "Formats run at the same time, each consumer in a thread of its own: heap, garbage collections and event loop are the thread's, RSS is the process'.",
    perSecond === null
      ? "As fast as possible: each consumer reads the same records again and again. Latencies are not measured, because a backlog's age says nothing."
      : `${formatCount(perSecond)} events a second of each format. Latency is from the time at which a record should have been written until it was handled, so a writer that is late makes it longer, not shorter.`,
    `The first ${formatCount(warmUpMsOf(durationMs))} ms after the start are warm-up and do not count${perSecond === null ? "" : ", nor does what consumers then need to catch up with what was written meanwhile"}.`,
    "Windows are of 1 s; neighbours are merged if there are more than 1,200. A merged p99 is the worst of its windows.",
    "Drift is the mean of the last third against that of the first. The slope is of least squares; ± is its 95% interval, widened for windows that resemble their neighbours. Something rises or falls if the interval leaves out zero and the change is 5% or more.",
  ];
}

function notesOf({ perSecond, interrupt, durationMs }: SoakPlan, { formats, rssDrift, behindMs }: SoakOutcome): readonly string[] {
  const notes: string[] = [];
  if ([...formats.map(({ drift }) => drift.rate), rssDrift].some((drift) => drift === null || drift.verdict === "too-short")) {
    const measuredMs = interrupt.aborted ? Math.max(0, ...formats.map(({ elapsedMs }) => elapsedMs)) : durationMs;
    notes.push(`${formatCount(measuredMs / 1e3)} s are too short to tell a drift: it takes 30 windows at least, and hours to find a leak.`);
  }
  if (perSecond !== null && !interrupt.aborted) {
    notes.push(...formats.map((format) => paceNote(format, perSecond)).filter((note) => note !== null));
  }
  if (behindMs > 1_000) {
    notes.push(
      `The writer was ${formatCount(behindMs)} ms late at the end: this machine does not write that --rate, and latencies hold its delay.`,
    );
  }
  if (interrupt.aborted) {
    notes.push("Interrupted: the figures are of the time until then.");
  }
  return notes;
}

function metricsOf({ formats, rssDrift }: SoakOutcome): readonly Metric[] {
  return [
    ...formats.flatMap(({ format, perSecond, latency, errorRecords, drift }): readonly Metric[] => [
      { name: "rate", scope: format, value: perSecond },
      ...(latency === null ? [] : percentileMetrics("latency", format, latency)),
      ...(drift.rate === null ? [] : [{ name: "drift.rate", scope: format, value: drift.rate.changePercent } as const]),
      ...(drift.heap === null ? [] : [{ name: "drift.heap", scope: format, value: drift.heap.changePercent } as const]),
      { name: "errors", scope: format, value: errorRecords },
    ]),
    ...(rssDrift === null ? [] : [{ name: "drift.rss", scope: "process", value: rssDrift.changePercent } as const]),
  ];
}
