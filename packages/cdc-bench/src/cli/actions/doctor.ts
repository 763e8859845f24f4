import type { SchemaSource } from "@cdckit/decode";
import { checkCodecs, checkNode, checkRegistry, checkSample, checkTopic, failure } from "../../doctor/checks.ts";
import { exitCodes, type ExitCode } from "../../exit-codes.ts";
import { type Cluster, openCluster } from "../../load/cluster.ts";
import type { ClusterConnection, RegistryConnection } from "../../load/connection.ts";
import { openRecordFeed } from "../../load/record-feed.ts";
import { openSchemas } from "../../load/schemas.ts";
import type { Source } from "../../load/source.ts";
import { type Check, checkText, doctorExitCode, doctorJson } from "../../doctor/doctor-report.ts";
import { toJsonText } from "../../report/json-text.ts";
import { openResultSink } from "../../report/result-sink.ts";
import type { Terminal } from "../../terminal.ts";
import { resolveCluster, resolveSource } from "../resolve-source.ts";
import type { DoctorFlags } from "../doctor.ts";

/** Every check says its line as soon as it is known; a later one does not wait for the user to cure an earlier one. */
export async function doctor(flags: DoctorFlags, terminal: Terminal): Promise<ExitCode> {
  const checking = flags.file === undefined ? checkCluster(flags, terminal) : checkFile(flags, terminal);
  const sink = await openResultSink(terminal, flags.output);
  const checks: Check[] = [];
  try {
    for await (const check of checking) {
      checks.push(check);
      if (flags.json !== true) {
        await sink.write(checkText(check));
      }
      if (terminal.interrupt.aborted) {
        break;
      }
    }
    if (flags.json === true) {
      await sink.write(`${toJsonText({ ...doctorJson(checks), aborted: terminal.interrupt.aborted })}\n`);
    }
  } finally {
    await sink.close();
  }
  return terminal.interrupt.aborted ? exitCodes.interrupted : doctorExitCode(checks);
}

async function* checkFile(flags: DoctorFlags, terminal: Terminal): AsyncGenerator<Check, void, void> {
  const source = resolveSource(flags, terminal.env);
  yield checkNode(process.version);
  if (source.registry !== undefined) {
    yield await checkRegistry(source.registry);
  }
  const schemas = await openSchemasChecked(source);
  if ("problem" in schemas) {
    yield schemas.problem;
    return;
  }
  yield await checkSample(flags.file ?? "", openRecordFeed(source, terminal), { schemas: schemas.source, registry: source.registry });
}

async function* checkCluster(flags: DoctorFlags, terminal: Terminal): AsyncGenerator<Check, void, void> {
  const { connection, registry } = resolveCluster(flags, terminal.env);
  yield checkNode(process.version);
  yield checkCodecs();
  yield registry === undefined
    ? { name: "registry", status: "skipped", detail: "none given (--registry or SCHEMA_REGISTRY_URL): needed for Avro" }
    : await checkRegistry(registry);
  if (connection === undefined) {
    yield { name: "brokers", status: "skipped", detail: "none given (--brokers, KAFKA_BROKERS or KAFKA_BOOTSTRAP_SERVERS)" };
    return;
  }
  yield* checkBrokers(connection, registry, flags.topics ?? [], terminal);
}

async function* checkBrokers(
  connection: ClusterConnection,
  registry: RegistryConnection | undefined,
  topics: readonly string[],
  terminal: Terminal,
): AsyncGenerator<Check, void, void> {
  let cluster: Cluster | undefined;
  try {
    // A broker that wants a login lets anybody connect: it is the first question that it refuses.
    cluster = await openCluster(connection, terminal);
    const names = await cluster.topicNames();
    yield {
      name: "brokers",
      status: "ok",
      detail: `${connection.brokers.join(", ")} reached${securityOf(connection)}, ${names.length} topics`,
    };
  } catch (error) {
    if (terminal.interrupt.aborted) {
      return;
    }
    yield failure("brokers", error, "check --brokers (host and port, firewall), --ssl and --sasl-mechanism");
    await cluster?.close();
    return;
  }
  try {
    if (topics.length === 0) {
      yield { name: "topic", status: "skipped", detail: "none given (--topics)" };
    }
    for (const topic of topics) {
      yield* checkTopicAndSample(cluster, { kind: "cluster", connection, topics: [topic], registry }, topic, terminal);
    }
  } finally {
    await cluster.close();
  }
}

/** What protects the connection, in words: without its settings. */
function securityOf({ tls, login }: ClusterConnection): string {
  return `${tls === undefined ? "" : " by TLS"}${login === undefined ? "" : `, logged in by ${login.mechanism.toUpperCase()}`}`;
}

async function* checkTopicAndSample(
  cluster: Cluster,
  source: Source,
  topic: string,
  terminal: Terminal,
): AsyncGenerator<Check, void, void> {
  let isReadable = true;
  for await (const check of checkTopic(cluster, topic)) {
    yield check;
    isReadable &&= check.status !== "problem";
  }
  if (isReadable) {
    yield await checkSample(topic, openRecordFeed(source, terminal), { schemas: openSchemas(source), registry: source.registry });
  }
}

async function openSchemasChecked(source: Source): Promise<{ readonly source: SchemaSource | undefined } | { readonly problem: Check }> {
  try {
    return { source: openSchemas(source) };
  } catch (error) {
    return { problem: failure("schemas", error, "check --schemas: a file of {id, schemaType, schema}, one a line") };
  }
}
