import { BenchError } from "../../bench-error.ts";
import { exitCodes, type ExitCode } from "../../exit-codes.ts";
import { openBatchWriter } from "../../load/batch-writer/batch-writer.ts";
import { loadCompression } from "../../load/batch-writer/compression.ts";
import type { Acks } from "../../load/batch-writer/produce-request.ts";
import { changeFormat, changeFormats, type ChangeFormat, registerSchemas, type SchemaIds } from "../../load/change-events/index.ts";
import { requireAnswer } from "../../load/cluster.ts";
import type { ClusterConnection, RegistryConnection } from "../../load/connection.ts";
import { createTopics, missingTopicsOf, type NewTopic } from "../../load/topics.ts";
import { connectingPhase } from "../../load/source.ts";
import { createObserver } from "../../observe/observer.ts";
import { describeEnvironment, versionsOf } from "../../report/environment.ts";
import { openResultSink } from "../../report/result-sink.ts";
import { produceMetrics, produceResult } from "../../scenario/produce/produce-result.ts";
import { formatsWithoutRegistry, planTopics, sourceOf, type TopicPlan } from "../../scenario/produce/produce-plan.ts";
import { runProduce } from "../../scenario/produce/run-produce.ts";
import type { Terminal } from "../../terminal.ts";
import { judge, verdictExitCode } from "../../verdict/verdict.ts";
import { resolveDemands } from "../demand-options.ts";
import type { ProduceFlags } from "../produce.ts";
import { openProfiling } from "../profile-options.ts";
import { writeResult } from "../result-options.ts";
import { requireCluster } from "../resolve-source.ts";

const acksOf: Readonly<Record<ProduceFlags["acks"], Acks>> = { all: -1, "1": 1, "0": 0 };

export async function produce(flags: ProduceFlags, terminal: Terminal): Promise<ExitCode> {
  const { connection, registry } = requireCluster(flags, terminal.env);
  if (flags.rows === undefined && flags.duration === undefined) {
    throw new BenchError("usage", "how much? Give --rows N, --duration TIME, or both.");
  }
  const demands = demandsOf(flags);
  const topics = planTopics(flags.prefix, formatsOf(flags, registry), flags.compression);
  await Promise.all(flags.compression.map(loadCompression)); // what is missing is said before anything is made
  const profiling = openProfiling(flags, "produce");
  const sink = await openResultSink(terminal, flags.output);
  const observer = createObserver(terminal);
  const startedAt = new Date();
  try {
    observer.observe(() => ({ phase: connectingPhase(connection) }));
    await requireAnswer(connection, terminal);
    const missing = await missingOf(connection, topics, flags);
    const schemaIds = await registerAll(topics, registry); // a registry that is away leaves no empty topics
    await createTopics(connection, missing);
    const writer = await openBatchWriter(
      connection,
      topics.map(({ topic }) => topic),
      acksOf[flags.acks],
    );
    try {
      const measure = await profiling.record(() =>
        runProduce({
          writer,
          topics,
          schemaIds,
          seed: flags.seed,
          mix: flags.ops,
          rows: flags.rows,
          maxDurationMs: flags.duration,
          perSecond: flags.rate,
          batchBytes: flags.batchBytes,
          maxInFlight: flags.inFlight,
          headers: flags.debeziumHeaders === true,
          isAcknowledged: flags.acks !== "0",
          interrupt: terminal.interrupt,
          observer,
        }),
      );
      observer.end();
      const verdict = judge(produceMetrics(measure), demands);
      const environment = describeEnvironment(versionsOf(["protobufjs"]));
      await writeResult(
        sink,
        flags,
        await profiling.addTo(produceResult({ startedAt, environment, settings: settingsOf(flags, connection, topics), measure, verdict })),
      );
      return measure.outcome === "interrupted" ? exitCodes.interrupted : verdictExitCode(verdict);
    } finally {
      await writer.close();
    }
  } finally {
    observer.end();
    await sink.close();
  }
}

function demandsOf(flags: ProduceFlags): ReturnType<typeof resolveDemands> {
  const demands = resolveDemands(flags, "produce");
  const unmeasured = demands.thresholds.find(({ metric }) => flags.acks === "0" && metric.startsWith("latency."));
  if (unmeasured !== undefined) {
    throw new BenchError("usage", `--threshold '${unmeasured.expr}': with --acks 0 nobody acknowledges a record. Give --acks 1 or all.`);
  }
  return demands;
}

function formatsOf({ formats }: ProduceFlags, registry: RegistryConnection | undefined): readonly ChangeFormat[] {
  if (formats === undefined) {
    return registry === undefined ? formatsWithoutRegistry : changeFormats;
  }
  const found = formats.map((name) => changeFormat(name) as ChangeFormat); // the flag's parser let no other name in
  const needing = found.filter((format) => !formatsWithoutRegistry.includes(format)).map(({ name }) => name);
  if (registry === undefined && needing.length > 0) {
    throw new BenchError(
      "usage",
      `${needing.join(", ")}: messages refer to registered schemas. Give --registry URL, or leave them out of --formats.`,
    );
  }
  return found;
}

/** The topics that are to be created. */
async function missingOf(connection: ClusterConnection, topics: readonly TopicPlan[], flags: ProduceFlags): Promise<readonly NewTopic[]> {
  const missing = await missingTopicsOf(
    connection,
    topics.map(({ topic }) => topic),
  );
  if (missing.length > 0 && flags.createTopics !== true) {
    const what = missing.length === 1 ? "there is no topic" : "there are no topics";
    throw new BenchError("too-few-messages", `${what} ${missing.join(", ")}: --create-topics makes them.`);
  }
  return missing.map((topic) => ({ topic, partitions: flags.partitions }));
}

async function registerAll(
  topics: readonly TopicPlan[],
  registry: RegistryConnection | undefined,
): Promise<ReadonlyMap<string, SchemaIds | null>> {
  const ids = new Map<string, SchemaIds | null>();
  for (const { topic, format } of topics) {
    ids.set(topic, await registerSchemas(format, sourceOf(topic), topic, registry));
  }
  return ids;
}

function settingsOf(flags: ProduceFlags, { brokers }: ClusterConnection, topics: readonly TopicPlan[]): Readonly<Record<string, unknown>> {
  return {
    source: brokers.join(","),
    topics: topics.map(({ topic }) => topic),
    rows: flags.rows ?? null,
    maxDurationMs: flags.duration ?? null,
    recordsPerSecond: flags.rate ?? null,
    ops: flags.ops,
    seed: flags.seed,
    acks: flags.acks,
    batchBytes: flags.batchBytes,
    requestsInFlight: flags.inFlight,
    debeziumHeaders: flags.debeziumHeaders === true,
  };
}
