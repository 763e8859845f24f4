import { BenchError } from "../../bench-error.ts";
import { exitCodes, type ExitCode } from "../../exit-codes.ts";
import { cleanLeftovers, openLeftovers } from "../../leftovers/leftovers.ts";
import { createRemover } from "../../leftovers/removers.ts";
import { withoutLogin } from "../../leftovers/thing.ts";
import { openCluster } from "../../load/cluster.ts";
import { openDatabase } from "../../load/database.ts";
import { createObserver } from "../../observe/observer.ts";
import { describeEnvironment } from "../../report/environment.ts";
import { openResultSink } from "../../report/result-sink.ts";
import { type RunTime, startRunTime } from "../../result/run-time.ts";
import { analyze, type Prices } from "../../scenario/snapshot/analysis.ts";
import { reportedConnector } from "../../scenario/snapshot/connector-config.ts";
import type { SnapshotResult } from "../../scenario/snapshot/result.ts";
import { snapshotNotes, snapshotRules } from "../../scenario/snapshot/rules.ts";
import { runSnapshot, type SnapshotOptions, type SnapshotRun } from "../../scenario/snapshot/run-snapshot.ts";
import { snapshotMetrics, summarizeFormats } from "../../scenario/snapshot/summarize.ts";
import type { Terminal } from "../../terminal.ts";
import { type Demands, judge, verdictExitCode } from "../../verdict/verdict.ts";
import { resolveDemands } from "../demand-options.ts";
import { openProfiling } from "../profile-options.ts";
import type { Profiling } from "../../profile/profiling.ts";
import { writeResult } from "../result-options.ts";
import type { SnapshotFlags } from "../snapshot.ts";
import { formatsOf, howMuchOf, type Places, resolvePlaces, tableOf, templateFrom } from "./snapshot-options.ts";

export async function snapshot(flags: SnapshotFlags, terminal: Terminal): Promise<ExitCode> {
  const places = resolvePlaces(flags, terminal);
  const remover = createRemover({ ...places, databaseUrls: [places.databaseUrl] });
  try {
    if (flags.clean === true) {
      return await cleanLeftovers({ terminal, remove: remover.remove });
    }
    const demands = resolveDemands(flags, "snapshot");
    const options = optionsOf(flags, places, terminal);
    const profiling = openProfiling(flags, "snapshot");
    const sink = await openResultSink(terminal, flags.output);
    try {
      const runTime = startRunTime();
      const run = await runWith(options, terminal, remover.remove, profiling);
      const result = resultOf(runTime(), options, run, demands, terminal);
      // A run that failed before it had anything says why, and has no result.
      if (run.failure === null || result.formats.length > 0) {
        await writeResult(sink, flags, await profiling.addTo(result));
      }
      return endOf(run, result, terminal);
    } finally {
      await sink.close();
    }
  } finally {
    await remover.close();
  }
}

/** What is known before anything is connected to. */
type GivenOptions = Omit<SnapshotOptions, "cluster" | "database" | "leftovers" | "observer" | "record" | "interrupt"> & {
  readonly prices: Prices;
};

function optionsOf(flags: SnapshotFlags, places: Places, { env }: Terminal): GivenOptions {
  const { connection, connectUrl, databaseUrl } = places;
  if (connection === undefined || connectUrl === undefined) {
    const missing = connection === undefined ? "--brokers HOST:PORT (KAFKA_BROKERS)" : "--connect URL (CONNECT_URL)";
    throw new BenchError("usage", `give ${missing}, or --stack FOLDER of a stack of npm run stack:up.`);
  }
  const template = templateFrom(flags, databaseUrl, env);
  return {
    ...places,
    connection,
    connectUrl,
    databaseUrl: databaseUrl ?? null,
    template,
    ...tableOf(flags, databaseUrl, template),
    ...howMuchOf(flags),
    formats: formatsOf(flags.formats),
    keepsTopics: flags.keep === true,
    prices: { storagePerGbMonth: flags.priceStorage ?? null, trafficPerGb: flags.priceTraffic ?? null },
  };
}

async function runWith(
  options: GivenOptions,
  terminal: Terminal,
  remove: Parameters<typeof openLeftovers>[0]["remove"],
  { record }: Profiling,
): Promise<SnapshotRun> {
  const observer = createObserver(terminal);
  const leftovers = await openLeftovers({ command: "snapshot", terminal, remove });
  const cluster = await openCluster(options.connection, terminal);
  try {
    const database = options.databaseUrl === null ? null : await openDatabase(options.databaseUrl);
    try {
      return await runSnapshot({ ...options, cluster, database, leftovers, observer, record, interrupt: terminal.interrupt });
    } finally {
      observer.end();
      await leftovers.close();
      await database?.close().catch(() => {}); // it may have been lost
    }
  } finally {
    await cluster.close();
  }
}

function resultOf(time: RunTime, options: GivenOptions, run: SnapshotRun, demands: Demands, terminal: Terminal): SnapshotResult {
  const { connection, connectUrl, registry, databaseUrl, table, template, prices, rounds, tailMs, tailRowsPerSecond, compressionMessages } =
    options;
  const formats = summarizeFormats(run.choices, run.placed);
  return {
    schemaVersion: 1,
    command: "snapshot",
    ...time,
    aborted: terminal.interrupt.aborted || run.failure !== null,
    environment: describeEnvironment({ "Kafka Connect": run.connectVersion }),
    settings: {
      brokers: connection.brokers.join(","),
      connect: withoutLogin(connectUrl),
      registry: registry === undefined ? null : withoutLogin(registry.url),
      database: databaseUrl === null ? null : withoutLogin(databaseUrl),
      table,
      formats: run.choices.map(({ format }) => format),
      rounds,
      tailMs,
      tailRowsPerSecond,
      compressionMessages,
      ...prices,
      connector: reportedConnector(template),
    },
    rules: snapshotRules,
    notes: snapshotNotes(run, formats, options),
    table,
    tableRows: run.tableRows,
    formats,
    analysis: analyze(formats, prices),
    ...judge(snapshotMetrics(formats), demands),
  };
}

function endOf({ failure }: SnapshotRun, result: SnapshotResult, { interrupt }: Terminal): ExitCode {
  if (failure !== null) {
    throw failure;
  }
  if (interrupt.aborted) {
    return exitCodes.interrupted;
  }
  return result.formats.some(({ errorRecords }) => errorRecords > 0) ? exitCodes.decodeErrors : verdictExitCode(result);
}
