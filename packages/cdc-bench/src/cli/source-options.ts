import type { Command } from "commander";
import { BenchError } from "../bench-error.ts";
import type { FileSource, Source } from "../load/source.ts";
import type { Terminal } from "../terminal.ts";
import { collectBrokers, collectNames, parseRegistryUrl } from "./option-values.ts";

/** Where messages come from, as flags say it. */
export interface SourceFlags {
  readonly brokers?: readonly string[];
  readonly topics?: readonly string[];
  readonly registry?: string;
  readonly file?: string;
  readonly schemas?: string;
}

export function addClusterFlags(command: Command): Command {
  return command
    .option("-b, --brokers <host:port,...>", "brokers to ask first (env KAFKA_BROKERS)", collectBrokers)
    .option("-t, --topics <name,...>", "topics, by their whole names", collectNames)
    .option("--registry <url>", "schema registry, Confluent API (env SCHEMA_REGISTRY_URL)", parseRegistryUrl);
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
  const { brokers, registryUrl } = resolveCluster(flags, env);
  if (brokers === undefined) {
    throw new BenchError("usage", "nothing to read from: give --brokers HOST:PORT and --topics NAME, or --file RECORDING.");
  }
  if (flags.topics === undefined) {
    throw new BenchError("usage", "which topics? Give --topics NAME, several separated by commas.");
  }
  return { kind: "cluster", brokers, topics: flags.topics, registryUrl };
}

/** Brokers and registry of flags and environment, each perhaps absent. */
export function resolveCluster(
  flags: SourceFlags,
  env: Terminal["env"],
): { readonly brokers: readonly string[] | undefined; readonly registryUrl: string | undefined } {
  const brokers = flags.brokers ?? fromEnv("KAFKA_BROKERS", env, collectBrokers);
  const registryUrl = flags.registry ?? fromEnv("SCHEMA_REGISTRY_URL", env, parseRegistryUrl);
  return { brokers, registryUrl };
}

function fileSource(flags: SourceFlags, file: string, env: Terminal["env"]): FileSource {
  if (flags.brokers !== undefined || flags.topics !== undefined) {
    throw new BenchError("usage", "--file and --brokers/--topics are two sources: give one of them.");
  }
  if (flags.schemas !== undefined && flags.registry !== undefined) {
    throw new BenchError("usage", "--schemas and --registry are two sources of schemas: give one of them.");
  }
  const registryUrl = flags.schemas === undefined ? resolveCluster(flags, env).registryUrl : undefined;
  return { kind: "file", file, schemasFile: flags.schemas, registryUrl };
}

function fromEnv<T>(name: string, env: Terminal["env"], parse: (text: string) => T): T | undefined {
  const text = env[name];
  if (text === undefined || text === "") {
    return undefined;
  }
  try {
    return parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new BenchError("usage", `the environment variable ${name} is wrong. ${reason}`, { cause: error });
  }
}
