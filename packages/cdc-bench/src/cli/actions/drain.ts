import { BenchError } from "../../bench-error.ts";
import { exitCodes, type ExitCode } from "../../exit-codes.ts";
import { changeFormat, type ChangeFormat } from "../../load/change-events/index.ts";
import type { ClusterConnection, RegistryConnection } from "../../load/connection.ts";
import { faultTextOf } from "../../load/fault.ts";
import { connectingPhase } from "../../load/source.ts";
import { createObserver } from "../../observe/observer.ts";
import { describeEnvironment } from "../../report/environment.ts";
import { openResultSink } from "../../report/result-sink.ts";
import { type RunTime, startRunTime } from "../../result/run-time.ts";
import { openClusterAccess } from "../../scenario/catch-up/cluster-access.ts";
import { tuningText } from "../../scenario/catch-up/tuning.ts";
import { type TargetName, targetNames } from "../../scenario/drain/contenders.ts";
import type { DrainResult } from "../../scenario/drain/drain-result.ts";
import { drainNotes, drainRules } from "../../scenario/drain/notes.ts";
import { type DrainOutcome, type DrainPlan, runDrain } from "../../scenario/drain/run-drain.ts";
import { brokenPromiseOf, deliveryCostsOf, drainMetrics } from "../../scenario/drain/summarize.ts";
import type { SnapshotFormat } from "../../scenario/snapshot/formats.ts";
import type { Terminal } from "../../terminal.ts";
import { type Demands, judge, verdictExitCode } from "../../verdict/verdict.ts";
import { resolveProxy, resolveTuning } from "../catch-up-options.ts";
import { cleanWith } from "./clean-with.ts";
import { onCluster } from "./on-cluster.ts";
import { resolveDemands } from "../demand-options.ts";
import type { DrainFlags } from "../drain.ts";
import { envValue } from "../env-value.ts";
import { openProfiling } from "../profile-options.ts";
import { nothingMeasured, writeResult } from "../result-options.ts";
import { requireCluster } from "../resolve-source.ts";

export async function drain(flags: DrainFlags, terminal: Terminal): Promise<ExitCode> {
  const { connection, registry } = requireCluster(flags, terminal.env);
  const sinkUrl = sinkUrlOf(flags, terminal);
  const access = { databaseUrls: databasesOf(flags, terminal, sinkUrl), connectUrl: connectOf(flags, terminal), registry };
  if (flags.clean === true) {
    return cleanWith({ connection, ...access }, terminal);
  }
  const targets = targetsOf(flags, sinkUrl);
  const openWriter = flags.via === "postgres" ? await postgresWriterOf(flags, terminal, registry) : null;
  const demands = resolveDemands(flags, "drain");
  const profiling = openProfiling(flags, "drain");
  const sink = await openResultSink(terminal, flags.output);
  try {
    const observer = createObserver(terminal);
    observer.note(connectingPhase(connection));
    const cluster = await openClusterAccess("drain", connection, terminal, access);
    const { interrupt } = terminal;
    const { record } = profiling;
    const plan: DrainPlan = { ...planOf(flags), cluster, targets, sinkUrl, interrupt, observer, openWriter, record };
    const runTime = startRunTime();
    const outcome = await onCluster(cluster, observer, () => runDrain(plan));
    const result = resultOf(plan, connection, outcome, demands, runTime());
    if (result === null) {
      terminal.stderr.write(nothingMeasured);
    } else {
      await writeResult(sink, flags, await profiling.addTo(result));
    }
    return exitCodeOf(result, terminal);
  } finally {
    await sink.close();
  }
}

function targetsOf({ to, work }: DrainFlags, sinkUrl: string | undefined): readonly TargetName[] {
  const targets = to === "all" ? targetNames : [to];
  if (targets.includes("postgres") && sinkUrl === undefined) {
    throw new BenchError("usage", "which PostgreSQL is written to? Give --sink-url postgres://user@host:port/name (env DRAIN_SINK_URL).");
  }
  if (!targets.includes("handler") && work !== undefined) {
    throw new BenchError("usage", "--work is the waiting of a handler: it goes with --to handler or --to all.");
  }
  return targets;
}

/** Checked before anything is made: what is made in a place that has no name could not be removed. */
function sinkUrlOf({ sinkUrl }: DrainFlags, { env }: Terminal): string | undefined {
  const address = sinkUrl ?? envValue("DRAIN_SINK_URL", env, String);
  if (address !== undefined && !isPostgres(address)) {
    // The address is not repeated: it may hold a password.
    throw new BenchError("usage", "--sink-url (env DRAIN_SINK_URL) must be a PostgreSQL, such as postgres://user@host:port/name.");
  }
  return address;
}

function isPostgres(address: string): boolean {
  return URL.canParse(address) && /^postgres(ql)?:\/\//.test(address);
}

/** Where this run may make something, and then where an earlier one may have. If both are one database, the login of this run is used. */
function databasesOf(flags: DrainFlags, terminal: Terminal, sinkUrl: string | undefined): readonly (string | undefined)[] {
  const database = databaseOf(flags, terminal);
  return flags.via === "postgres" ? [database, sinkUrl] : [sinkUrl, database];
}

function databaseOf({ database }: DrainFlags, { env }: Terminal): string | undefined {
  return database ?? env["DATABASE_URL"];
}

function connectOf({ connect }: DrainFlags, { env }: Terminal): string | undefined {
  return connect ?? env["CONNECT_URL"];
}

/** Formats that a converter of Kafka Connect writes, by the names of `--format`. */
const connectFormats: Readonly<Record<string, SnapshotFormat>> = {
  "json-with-schema": "json-schema",
  json: "json",
  avro: "avro",
  protobuf: "protobuf",
};

async function postgresWriterOf(
  flags: DrainFlags,
  terminal: Terminal,
  registry: RegistryConnection | undefined,
): Promise<NonNullable<DrainPlan["openWriter"]>> {
  const databaseUrl = databaseOf(flags, terminal);
  const connectUrl = connectOf(flags, terminal);
  const format = connectFormats[flags.format];
  if (databaseUrl === undefined || connectUrl === undefined) {
    throw new BenchError(
      "usage",
      "--via postgres needs --database postgres://user@host:port/name (DATABASE_URL) and --connect URL (CONNECT_URL).",
    );
  }
  if (!isPostgres(databaseUrl)) {
    throw new BenchError("usage", "--via postgres writes to PostgreSQL: give --database postgres://user@host:port/name.");
  }
  if (format === undefined) {
    throw new BenchError("usage", `--via postgres writes ${Object.keys(connectFormats).join(", ")}, not ${flags.format}.`);
  }
  if (flags.compression !== "none") {
    throw new BenchError("usage", "--compression is of batches that this program writes: with --via postgres, the connector writes them.");
  }
  const { openPostgresWriter } = await import("../../scenario/drain/postgres-writer.ts");
  const { converterRegistry } = flags;
  return (plan) =>
    openPostgresWriter({
      ...plan,
      databaseUrl,
      connectUrl,
      registry,
      converterRegistry,
      format,
      rows: plan.records + plan.checkpointRecords,
      env: terminal.env,
    });
}

/** What the flags alone say. */
function planOf(
  flags: DrainFlags,
): Omit<DrainPlan, "cluster" | "targets" | "sinkUrl" | "interrupt" | "observer" | "openWriter" | "record"> {
  return {
    ...flags,
    ...resolveProxy(flags),
    format: changeFormat(flags.format) as ChangeFormat, // the flag has choices
    records: flags.events,
    checkpointRecords: flags.checkpointEvents,
    tuning: resolveTuning(flags),
    workMs: flags.work ?? 0,
    slowSinkMs: flags.slowSink ?? null,
  };
}

/** Null if the run was interrupted before there was anything to tell. */
function resultOf(
  plan: DrainPlan,
  connection: ClusterConnection,
  { backlog, drains, slowSink }: DrainOutcome,
  demands: Demands,
  time: RunTime,
): DrainResult | null {
  if (backlog === null) {
    return null;
  }
  const deliveryCosts = deliveryCostsOf(drains);
  return {
    schemaVersion: 1,
    command: "drain",
    ...time,
    aborted: plan.interrupt.aborted,
    environment: describeEnvironment(),
    settings: settingsOf(plan, connection),
    rules: drainRules(plan),
    notes: drainNotes(plan, drains, slowSink),
    ...judge(drainMetrics(drains, deliveryCosts), demands),
    backlog,
    drains,
    deliveryCosts,
    slowSink,
    configuration: tuningText(plan.tuning),
  };
}

function settingsOf(plan: DrainPlan, { brokers }: ClusterConnection): Readonly<Record<string, unknown>> {
  const { records, checkpointRecords, partitions, writers, compression, seed, rounds, targets, workMs, slowSinkMs, usesProxy } = plan;
  return {
    brokers,
    client: "kafkajs",
    events: records,
    checkpointEvents: checkpointRecords,
    partitions,
    writers,
    via: plan.openWriter === null ? "kafka" : "postgres",
    format: plan.format.name,
    compression,
    seed,
    rounds,
    targets,
    workMs,
    slowSinkMs,
    proxy: usesProxy,
    faults: plan.faults.map(faultTextOf),
    ...plan.tuning,
  };
}

function exitCodeOf(result: DrainResult | null, { stderr }: Pick<Terminal, "stderr">): ExitCode {
  if (result === null || result.aborted) {
    return exitCodes.interrupted;
  }
  const rounds = result.drains.flatMap((measured) => measured.rounds);
  if (rounds.some(({ errors }) => errors.length > 0)) {
    return exitCodes.decodeErrors;
  }
  const broken = brokenPromiseOf(result.drains);
  if (broken !== null) {
    stderr.write(`cdc-bench: ${broken}\n`);
    return exitCodes.unexpected;
  }
  return verdictExitCode(result);
}
