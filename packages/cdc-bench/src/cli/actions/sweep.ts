import { BenchError } from "../../bench-error.ts";
import { exitCodes, type ExitCode } from "../../exit-codes.ts";
import { changeFormat, type ChangeFormat } from "../../load/change-events/index.ts";
import { openCluster } from "../../load/cluster.ts";
import type { ClusterConnection } from "../../load/connection.ts";
import { faultTextOf } from "../../load/fault.ts";
import { openRegistry, requireRegistry } from "../../load/schemas.ts";
import { connectingPhase } from "../../load/source.ts";
import { createObserver, type Observer } from "../../observe/observer.ts";
import { describeEnvironment } from "../../report/environment.ts";
import { openResultSink } from "../../report/result-sink.ts";
import { type RunTime, startRunTime } from "../../result/run-time.ts";
import { openBacklog } from "../../scenario/catch-up/backlog.ts";
import { type ClusterAccess, openClusterAccess } from "../../scenario/catch-up/cluster-access.ts";
import { tuningText } from "../../scenario/catch-up/tuning.ts";
import { dimensionOf } from "../../scenario/sweep/dimensions.ts";
import { givenTopics } from "../../scenario/sweep/given-topics.ts";
import { sweepNotes, sweepRules } from "../../scenario/sweep/notes.ts";
import { runSweep, type SweepOutcome, type SweepPlan } from "../../scenario/sweep/run-sweep.ts";
import type { SweepResult } from "../../scenario/sweep/sweep-result.ts";
import type { Terminal } from "../../terminal.ts";
import type { Metric } from "../../verdict/metric.ts";
import { type Demands, judge, verdictExitCode } from "../../verdict/verdict.ts";
import { resolveProxy, resolveTuning } from "../catch-up-options.ts";
import { resolveDemands } from "../demand-options.ts";
import { openProfiling } from "../profile-options.ts";
import { nothingMeasured, writeResult } from "../result-options.ts";
import { requireCluster } from "../resolve-source.ts";
import type { SweepFlags } from "../sweep.ts";
import { cleanWith } from "./clean-with.ts";
import { onCluster } from "./on-cluster.ts";

export async function sweep(flags: SweepFlags, terminal: Terminal): Promise<ExitCode> {
  const { connection, registry } = requireCluster(flags, terminal.env);
  if (flags.clean === true) {
    return cleanWith({ connection }, terminal);
  }
  const demands = resolveDemands(flags, "sweep");
  const profiling = openProfiling(flags, "sweep");
  const sink = await openResultSink(terminal, flags.output);
  try {
    const observer = createObserver(terminal);
    observer.note(connectingPhase(connection));
    const cluster = await openClusterAccess("sweep", connection, terminal);
    const runTime = startRunTime();
    const result = await onCluster(cluster, observer, async () => {
      await requireRegistry(flags.topics === undefined ? undefined : registry); // what this run writes itself needs none
      const schemas = registry === undefined ? undefined : openRegistry(registry);
      const backlog = await backlogOf(flags, cluster, terminal, observer, schemas);
      const plan: SweepPlan = {
        ...planOf(flags),
        ...backlog,
        cluster,
        interrupt: terminal.interrupt,
        observer,
        record: profiling.record,
      };
      return resultOf(plan, flags, connection, await runSweep(plan), demands, runTime());
    });
    if (result === null && !terminal.interrupt.aborted) {
      throw new BenchError(
        "too-few-messages",
        "nothing was measured in time: give more --time-limit, or a --point-time in which events come.",
      );
    }
    if (result === null) {
      terminal.stderr.write(nothingMeasured);
      return exitCodes.interrupted;
    }
    await writeResult(sink, flags, await profiling.addTo(result.result));
    if (result.result.aborted) {
      return exitCodes.interrupted;
    }
    return result.errorRecords > 0 ? exitCodes.decodeErrors : verdictExitCode(result.result);
  } finally {
    await sink.close();
  }
}

/** Topics that exist, as they are; or one that is written for this run. */
async function backlogOf(
  flags: SweepFlags,
  cluster: ClusterAccess,
  { interrupt }: Terminal,
  observer: Observer,
  schemas: SweepPlan["schemas"],
): Promise<Pick<SweepPlan, "topics" | "ends" | "records" | "heldBack" | "schemas">> {
  if (flags.topics !== undefined) {
    const asked = await openCluster(cluster.connection, { interrupt });
    try {
      const given = await givenTopics(asked, flags.topics);
      given.heldBack.forEach((note) => observer.note(note));
      return { ...given, schemas };
    } finally {
      await asked.close();
    }
  }
  const topic = cluster.name("events");
  await cluster.makeTopic(topic, { partitions: flags.partitions });
  const format = changeFormat(flags.format) as ChangeFormat; // the flag has choices
  const backlog = await openBacklog({ ...flags, cluster, topic, format, records: flags.events, interrupt, observer });
  try {
    observer.note(`writing ${flags.events.toLocaleString("en-US")} events`);
    await backlog.write(flags.events, "writing what is read again and again");
  } finally {
    await backlog.close();
  }
  return { topics: [topic], ends: await cluster.endsOf([topic]), records: flags.events, heldBack: [], schemas: backlog.schemas };
}

function planOf(
  flags: SweepFlags,
): Omit<SweepPlan, "topics" | "ends" | "records" | "heldBack" | "schemas" | "cluster" | "interrupt" | "observer" | "record"> {
  return {
    ...resolveProxy(flags),
    base: resolveTuning(flags),
    dimensions: flags.dimensions.map(dimensionOf),
    rounds: flags.rounds,
    workMs: flags.work ?? 0,
    pointMs: flags.pointTime,
    timeLimitMs: flags.timeLimit,
  };
}

/** Null if the run was interrupted before anything was measured. */
function resultOf(
  plan: SweepPlan,
  flags: SweepFlags,
  { brokers }: ClusterConnection,
  outcome: SweepOutcome,
  demands: Demands,
  time: RunTime,
): { readonly result: SweepResult; readonly errorRecords: number } | null {
  const { base, noise, curves, combined } = outcome;
  if (base.rate.rounds.length === 0) {
    return null;
  }
  const winner = combined?.isBetter === true ? combined.tuning : base.tuning;
  const isOwn = flags.topics === undefined;
  const result: SweepResult = {
    schemaVersion: 1,
    command: "sweep",
    ...time,
    aborted: plan.interrupt.aborted,
    environment: describeEnvironment(),
    settings: {
      brokers,
      clients: flags.clients,
      topics: isOwn ? null : flags.topics,
      records: plan.records,
      ...(isOwn && {
        format: flags.format,
        partitions: flags.partitions,
        writers: flags.writers,
        compression: flags.compression,
        seed: flags.seed,
      }),
      dimensions: flags.dimensions,
      rounds: plan.rounds,
      workMs: plan.workMs,
      pointMs: plan.pointMs,
      timeLimitMs: plan.timeLimitMs,
      proxy: plan.usesProxy,
      faults: plan.faults.map(faultTextOf),
      ...plan.base,
    },
    rules: sweepRules(plan),
    notes: [...plan.heldBack, ...sweepNotes(plan, outcome)],
    ...judge(metricsOf(outcome), demands),
    base,
    noise,
    curves,
    combined,
    configuration: tuningText(winner),
  };
  return { result, errorRecords: outcome.errorRecords };
}

function metricsOf({ base, combined, curves, errorRecords }: SweepOutcome): readonly Metric[] {
  return [
    { name: "rate", scope: "base", value: base.rate.median },
    ...(combined === null ? [] : [{ name: "rate", scope: "combined", value: combined.rate.median } as const]),
    ...curves.flatMap(({ name, knee }) =>
      knee === null ? [] : [{ name: "rate", scope: `${name} at its knee`, value: knee.rate.median } as const],
    ),
    { name: "errors", scope: "all", value: errorRecords },
  ];
}
