import {
  type CdcEvent,
  createDecoder,
  type DecodeErrorCode,
  isDecodeError,
  type KafkaRecord,
  type SchemaSource,
  UntypedColumns,
} from "@cdckit/decode";
import { isKafkaJsDriverError, kafkajs } from "@cdckit/kafkajs";
import { isRecordBatchError } from "@cdckit/record-batch";
import { isRegistryError } from "@cdckit/registry";
import { isRecordingError } from "@cdckit/testkit";
import { BenchError } from "../bench-error.ts";
import { exitCodeOfDriver } from "../driver-exit-codes.ts";
import { exitCodes, type ExitCode } from "../exit-codes.ts";
import type { Cluster } from "../load/cluster.ts";
import type { RegistryConnection } from "../load/connection.ts";
import { heldBackNotes } from "../load/held-back.ts";
import { lacksSchemaSource, openRegistry } from "../load/schemas.ts";
import type { Check } from "./doctor-report.ts";
import { formatLabel } from "../report/format-label.ts";
import { formatCount } from "../report/quantities.ts";
import { untypedNotes } from "../report/untyped-notes.ts";
import { isRegistryAtFault, registryAdvice } from "../registry-fault.ts";

const minNode = [20, 19] as const;
/** Records that are decoded to see whether a topic can be: the first ones may be tombstones or heartbeats. */
const sampleRecords = 20;
const brokersAdvice = "ask who runs the brokers: the messages are not what is wrong";

export function checkNode(version: string): Check {
  const [major = 0, minor = 0] = version.replace(/^v/, "").split(".").map(Number);
  const fits = major > minNode[0] || (major === minNode[0] && minor >= minNode[1]);
  const found = `Node ${version}`;
  return fits
    ? { name: "node", status: "ok", detail: found }
    : problem("node", found, `install Node ${minNode.join(".")} or later`, exitCodes.unexpected);
}

/** Which compressed batches can be read with what is installed. */
export function checkCodecs(): Check {
  const { codecs } = kafkajs({ brokers: ["localhost:9092"] }).capabilities;
  const missing = ["gzip", "snappy", "lz4", "zstd"].filter((codec) => !(codecs as readonly string[]).includes(codec));
  return missing.length === 0
    ? { name: "codecs", status: "ok", detail: `batches compressed with ${codecs.join(", ")} are readable` }
    : problem(
        "codecs",
        `no codec for ${missing.join(", ")}`,
        "install the package again, optional dependencies included",
        exitCodes.unexpected,
      );
}

export async function checkRegistry(connection: RegistryConnection): Promise<Check> {
  const registry = openRegistry(connection);
  try {
    const [ping] = await registry.ping();
    return ping?.ok === true
      ? { name: "registry", status: "ok", detail: ping.detail }
      : problem("registry", ping?.detail ?? "it does not answer", registryAdvice, exitCodes.connection);
  } finally {
    await registry.close();
  }
}

/** Whether the topic exists, how much is in it at most, and what of it cannot be read yet. */
export async function* checkTopic(cluster: Pick<Cluster, "extentsOf" | "heldBackOf">, topic: string): AsyncGenerator<Check, void, void> {
  try {
    const extents = await cluster.extentsOf([topic]);
    const partitions = extents[0]?.partitions.length ?? 0;
    const offsets = Number(extents[0]?.maxRecords ?? 0n);
    yield { name: "topic", status: "ok", detail: `${topic}: ${counted(partitions, "partition")}, ${maxRecordsText(offsets)}` };
    for (const detail of (await heldBackNotes(cluster, extents)).values()) {
      yield { name: "topic", status: "warning", detail };
    }
  } catch (error) {
    const isMissing = error instanceof BenchError && error.code === "too-few-messages";
    yield failure(
      "topic",
      error,
      isMissing ? "check --topics: names are case-sensitive, and a connector's prefix is part of them" : brokersAdvice,
    );
  }
}

/** Where the schemas of a sample come from. */
export interface SampleSchemas {
  readonly schemas: SchemaSource | undefined;
  /** Undefined: not from a registry. */
  readonly registry: RegistryConnection | undefined;
}

/** Decodes the first records of a source, and says what they are. */
export async function checkSample(name: string, records: AsyncIterable<KafkaRecord>, { schemas, registry }: SampleSchemas): Promise<Check> {
  const decoder = createDecoder(schemas === undefined ? {} : { schemas });
  const formats = new Set<string>();
  const untyped = new UntypedColumns();
  let seen = 0;
  try {
    for await (const record of records) {
      for (const event of await decoder.decode(record)) {
        formats.add(labelOf(event));
        untyped.add(event);
      }
      if (++seen === sampleRecords) {
        break;
      }
    }
  } catch (error) {
    return failure("decode", error, adviceFor(error, registry));
  }
  if (seen === 0) {
    return { name: "decode", status: "skipped", detail: `${name}: no records to read, nothing to decode` };
  }
  // Readable is not all: without types a column that is a decimal or a time is wrong in silence.
  const notes = untypedNotes(untyped).trimEnd();
  const detail = `${name}: ${seen} records are ${[...formats].join("; ")}`;
  return notes === ""
    ? { name: "decode", status: "ok", detail }
    : { name: "decode", status: "warning", detail: `${detail}; ${notes.replaceAll("\n", " ")}` };
}

/** A failure as a check that says what to do. */
export function failure(name: string, error: unknown, advice: string): Check {
  if (error instanceof BenchError) {
    return problem(name, error.detail, advice, error.exitCode);
  }
  if (isRecordingError(error)) {
    return problem(name, error.detail, advice, exitCodes.usage);
  }
  if (isDecodeError(error)) {
    const at = error.at === undefined ? "" : `${error.at.topic}[${error.at.partition}]@${error.at.offset}: `;
    return problem(name, `${at}${error.message}`, advice, isRegistryAtFault(error) ? exitCodes.connection : exitCodes.decodeErrors);
  }
  if (isKafkaJsDriverError(error)) {
    const exitCode = exitCodeOfDriver[error.code];
    return problem(name, error.message, exitCode === exitCodes.connection ? brokersAdvice : advice, exitCode);
  }
  return problem(name, error instanceof Error ? error.message : String(error), advice, exitCodes.unexpected);
}

function problem(name: string, detail: string, advice: string, exitCode: ExitCode): Check {
  return { name, status: "problem", detail, advice, exitCode };
}

/** Offsets are what the brokers know: some may have no record. */
function maxRecordsText(offsets: number): string {
  return offsets === 0 ? "no records to read" : `at most ${counted(offsets, "record")}`;
}

function counted(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}

function labelOf(event: CdcEvent): string {
  const { kind, framing, encoding, envelope } = event;
  return formatLabel(kind === "tombstone" ? "tombstone" : { framing, encoding, envelope });
}

/** An id that says of which kind it is (`globalId:7`) is read as that, whatever the option says. */
function namesItsKind(cause: unknown): boolean {
  return isRegistryError(cause) && typeof cause.id === "string";
}

/** The codes that records end with if their ids lead to no schema, or to that of another table. */
const codesOfWrongIds: ReadonlySet<DecodeErrorCode> = new Set<DecodeErrorCode>(["schema-not-found", "schema-mismatch"]);
const explainAdvice = "cdc-bench inspect --explain shows what was tried and why it lost";

function adviceFor(error: unknown, registry: RegistryConnection | undefined): string {
  if (isDecodeError(error) && lacksSchemaSource(error)) {
    return "give --registry URL, or --schemas FILE with --file: the messages name schemas that must be fetched";
  }
  if (isDecodeError(error) && isRegistryAtFault(error)) {
    return registryAdvice;
  }
  if (isKafkaJsDriverError(error) && isRecordBatchError(error.cause) && error.cause.code === "batch-too-large") {
    return "if you trust who writes the topic, give --max-decompressed-bytes: a batch then takes so much memory";
  }
  if (isDecodeError(error) && registry !== undefined && codesOfWrongIds.has(error.code) && !namesItsKind(error.cause)) {
    const other = registry.numericIds === "globalId" ? "contentId" : "globalId";
    return `if the registry is Apicurio, its converters may write ids of the other kind: give --registry-ids ${other}; ${explainAdvice}`;
  }
  return explainAdvice;
}
