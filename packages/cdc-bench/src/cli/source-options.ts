import { type Command, InvalidArgumentError } from "commander";
import { BenchError } from "../bench-error.ts";
import type { ClusterConnection, RegistryConnection } from "../load/connection.ts";
import type { FileSource, Source } from "../load/source.ts";
import type { Terminal } from "../terminal.ts";
import { inShortNames } from "./client-variables.ts";
import { envValue } from "./env-value.ts";
import { addLoginFlags, type LoginFlags, resolveLogin } from "./login-options.ts";
import { collectBrokers, collectNames, parseCount, parseRegistryUrl } from "./option-values.ts";
import { resolveRegistry } from "./registry-options.ts";
import { addTlsFlags, resolveTls, type TlsFlags } from "./tls-options.ts";

/** Where messages come from, as flags say it. */
export interface SourceFlags extends TlsFlags, LoginFlags {
  readonly brokers?: readonly string[];
  readonly topics?: readonly string[];
  readonly fetchBytes?: number;
  readonly registry?: string;
  readonly file?: string;
  readonly schemas?: string;
}

export function addClusterFlags(command: Command): Command {
  addBrokersFlag(command).option("-t, --topics <name,...>", "topics, by their whole names", collectNames);
  return addFetchBytesFlag(addLoginFlags(addTlsFlags(command))).option(
    "--registry <url>",
    "schema registry, Confluent API (env SCHEMA_REGISTRY_URL; _USERNAME and _PASSWORD, or _TOKEN)",
    parseRegistryUrl,
  );
}

export function addFetchBytesFlag(command: Command): Command {
  return command.option("--fetch-bytes <count>", "most bytes of a partition in one fetch (default: the driver's own)", parseFetchBytes);
}

export function addBrokersFlag(command: Command): Command {
  return command.option("-b, --brokers <host:port,...>", "brokers to ask first (env KAFKA_BROKERS)", collectBrokers);
}

export function addFileFlags(command: Command): Command {
  return command
    .option("--file <recording>", "a recording in place of brokers: NDJSON, gzip allowed")
    .option("--schemas <file>", "the schemas that the recording refers to: NDJSON of {id, schemaType, schema}");
}

/** The one source that flags and environment name, or a sentence about what is missing or contradictory. */
export function resolveSource(flags: SourceFlags, env: Terminal["env"]): Source {
  if (flags.file !== undefined) {
    return fileSource(flags, flags.file, env);
  }
  if (flags.schemas !== undefined) {
    throw new BenchError("usage", "--schemas goes with --file: topics of a cluster take their schemas from --registry.");
  }
  const { connection, registry } = resolveCluster(flags, env);
  if (connection === undefined) {
    throw new BenchError("usage", "nothing to read from: give --brokers HOST:PORT and --topics NAME, or --file RECORDING.");
  }
  if (flags.topics === undefined) {
    throw new BenchError("usage", "which topics? Give --topics NAME, several separated by commas.");
  }
  return { kind: "cluster", connection, topics: flags.topics, registry };
}

/** Brokers and registry of flags and environment, each perhaps absent. */
export function resolveCluster(
  flags: SourceFlags,
  env: Terminal["env"],
): { readonly connection: ClusterConnection | undefined; readonly registry: RegistryConnection | undefined } {
  const variables = inShortNames(flags, env);
  const brokers = flags.brokers ?? envValue("KAFKA_BROKERS", variables, collectBrokers);
  const registry = resolveRegistry(flags.registry, env);
  if (brokers === undefined) {
    return { connection: undefined, registry };
  }
  const { fetchBytes } = flags;
  const tls = resolveTls(flags, variables);
  const login = resolveLogin(flags, variables);
  const connection = { brokers, ...(tls && { tls }), ...(login && { login }), ...(fetchBytes !== undefined && { fetchBytes }) };
  return { connection, registry };
}

function fileSource(flags: SourceFlags, file: string, env: Terminal["env"]): FileSource {
  if (flags.brokers !== undefined || flags.topics !== undefined) {
    throw new BenchError("usage", "--file and --brokers/--topics are two sources: give one of them.");
  }
  const stray = brokerFlags.find(([name]) => flags[name] !== undefined);
  if (stray !== undefined) {
    throw new BenchError("usage", `--file and ${stray[1]} do not go together: a recording is read without brokers.`);
  }
  if (flags.schemas !== undefined && flags.registry !== undefined) {
    throw new BenchError("usage", "--schemas and --registry are two sources of schemas: give one of them.");
  }
  const registry = flags.schemas === undefined ? resolveRegistry(flags.registry, env) : undefined;
  return { kind: "file", file, schemasFile: flags.schemas, registry };
}

const brokerFlags: readonly (readonly [keyof SourceFlags, string])[] = [
  ["ssl", "--ssl/--no-ssl"],
  ["sslCa", "--ssl-ca"],
  ["sslCert", "--ssl-cert"],
  ["sslKey", "--ssl-key"],
  ["saslMechanism", "--sasl-mechanism"],
  ["saslUsername", "--sasl-username"],
  ["fetchBytes", "--fetch-bytes"],
];

/** Kafka's field for it has 32 bits. */
const maxFetchBytes = 2_147_483_647;

function parseFetchBytes(text: string): number {
  const bytes = parseCount(text);
  if (bytes > maxFetchBytes) {
    throw new InvalidArgumentError(`It must not exceed ${maxFetchBytes}.`);
  }
  return bytes;
}
