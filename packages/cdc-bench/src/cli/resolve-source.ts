import { BenchError } from "../bench-error.ts";
import type { ClusterConnection, RegistryConnection } from "../load/connection.ts";
import type { FileSource, Source } from "../load/source.ts";
import type { Terminal } from "../terminal.ts";
import { inShortNames } from "./client-variables.ts";
import { envValue } from "./env-value.ts";
import { resolveLogin } from "./login-options.ts";
import { collectBrokers } from "./option-values.ts";
import { resolveRegistry } from "./registry-options.ts";
import type { SourceFlags } from "./source-options.ts";
import { resolveTls } from "./tls-options.ts";

/** The one source that flags and environment name, or a sentence about what is missing or contradictory. */
export function resolveSource(flags: SourceFlags, env: Terminal["env"]): Source {
  if (flags.file !== undefined) {
    return fileSource(flags, flags.file, env);
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

/** Brokers and registry of flags and environment, for a command that does nothing without brokers. */
export function requireCluster(
  flags: SourceFlags,
  env: Terminal["env"],
): { readonly connection: ClusterConnection; readonly registry: RegistryConnection | undefined } {
  const { connection, registry } = resolveCluster(flags, env);
  if (connection === undefined) {
    throw new BenchError("usage", "no brokers: give --brokers HOST:PORT (env KAFKA_BROKERS).");
  }
  return { connection, registry };
}

/** Brokers and registry of flags and environment, each perhaps absent. */
export function resolveCluster(
  flags: SourceFlags,
  env: Terminal["env"],
): { readonly connection: ClusterConnection | undefined; readonly registry: RegistryConnection | undefined } {
  const variables = inShortNames(flags, env);
  const brokers = flags.brokers ?? envValue("KAFKA_BROKERS", variables, collectBrokers);
  const registry = resolveRegistry(flags, env);
  if (brokers === undefined) {
    return { connection: undefined, registry };
  }
  const { fetchBytes, maxDecompressedBytes } = flags;
  const tls = resolveTls(flags, variables);
  const login = resolveLogin(flags, variables);
  const connection = {
    brokers,
    ...(tls && { tls }),
    ...(login && { login }),
    ...(fetchBytes !== undefined && { fetchBytes }),
    ...(maxDecompressedBytes !== undefined && { maxDecompressedBytes }),
  };
  return { connection, registry };
}

function fileSource(flags: SourceFlags, file: string, env: Terminal["env"]): FileSource {
  if (flags.brokers !== undefined || flags.topics !== undefined) {
    throw new BenchError("usage", "--file and --brokers/--topics are two sources: give one of them.");
  }
  const stray = givenBrokerFlag(flags);
  if (stray !== undefined) {
    throw new BenchError("usage", `--file and ${stray} do not go together: a recording is read without brokers.`);
  }
  if (flags.schemas !== undefined && flags.registry !== undefined) {
    throw new BenchError("usage", "--schemas and --registry are two sources of schemas: give one of them.");
  }
  if (flags.schemas !== undefined && flags.registryIds !== undefined) {
    throw new BenchError("usage", "--schemas and --registry-ids do not go together: ids are looked up in the file.");
  }
  const registry = flags.schemas === undefined ? resolveRegistry(flags, env) : undefined;
  return { kind: "file", file, schemasFile: flags.schemas, registry };
}

/** The first flag of these that says how brokers are reached or read. */
export function givenBrokerFlag(flags: SourceFlags): string | undefined {
  return brokerFlags.find(([name]) => flags[name] !== undefined)?.[1];
}

const brokerFlags: readonly (readonly [keyof SourceFlags, string])[] = [
  ["ssl", "--ssl/--no-ssl"],
  ["sslCa", "--ssl-ca"],
  ["sslCert", "--ssl-cert"],
  ["sslKey", "--ssl-key"],
  ["saslMechanism", "--sasl-mechanism"],
  ["saslUsername", "--sasl-username"],
  ["fetchBytes", "--fetch-bytes"],
  ["maxDecompressedBytes", "--max-decompressed-bytes"],
];
