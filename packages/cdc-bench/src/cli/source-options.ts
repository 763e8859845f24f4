import type { ApicurioIdSpace } from "@cdckit/decode";
import { type Command, InvalidArgumentError, Option } from "commander";
import { addLoginFlags, type LoginFlags } from "./login-options.ts";
import { refuseAlone } from "./lone-flags.ts";
import { collectBrokers, collectNames, parseCount, parseRegistryUrl } from "./option-values.ts";
import { addTlsFlags, type TlsFlags } from "./tls-options.ts";

/** Where messages come from, as flags say it. */
export interface SourceFlags extends TlsFlags, LoginFlags {
  readonly brokers?: readonly string[];
  readonly topics?: readonly string[];
  readonly fetchBytes?: number;
  readonly maxDecompressedBytes?: number;
  readonly registry?: string;
  readonly registryIds?: ApicurioIdSpace;
  readonly file?: string;
  readonly schemas?: string;
}

const ownFetchBytes = "the driver's own";

/** For a command that reads topics of others. `fetchBytes`: what it fetches of a partition without the flag. */
export function addClusterFlags(command: Command, fetchBytes: string = ownFetchBytes): Command {
  addBrokersFlag(command).option("-t, --topics <name,...>", "topics, by their whole names", collectNames);
  addFetchLimitFlags(addLoginFlags(addTlsFlags(command)), fetchBytes);
  return addRegistryFlag(command).addOption(
    new Option("--registry-ids <space>", "what ids of four bytes are at an Apicurio registry (default: contentId)").choices(idSpaces),
  );
}

export function addRegistryFlag(command: Command): Command {
  return command.option(
    "--registry <url>",
    "schema registry, Confluent API or Apicurio's (env SCHEMA_REGISTRY_URL; _USERNAME and _PASSWORD, or _TOKEN)",
    parseRegistryUrl,
  );
}

/** How much may be read at once. */
export function addFetchLimitFlags(command: Command, fetchBytes: string = ownFetchBytes): Command {
  return addFetchBytesFlag(command, fetchBytes).option(
    "--max-decompressed-bytes <count>",
    "most bytes that one batch may become, for topics that you trust (default: the driver's own)",
    parseDecompressedBytes,
  );
}

export function addFetchBytesFlag(command: Command, fetchBytes: string = ownFetchBytes): Command {
  return command.option("--fetch-bytes <count>", `most bytes of a partition in one fetch (default: ${fetchBytes})`, parseFetchBytes);
}

export function addBrokersFlag(command: Command): Command {
  return command.option("-b, --brokers <host:port,...>", "brokers to ask first (env KAFKA_BROKERS)", collectBrokers);
}

export function addFileFlags(command: Command): Command {
  refuseAlone(command, ["--schemas"], "--file");
  return command
    .option("--file <recording>", "a recording in place of brokers: NDJSON, gzip allowed", onlyOne)
    .option("--schemas <file>", "the schemas that the recording refers to: NDJSON of {id, schemaType, schema}", onlyOne);
}

/** The last of several would count, and the others would not be read, without a word. */
function onlyOne(file: string, before?: string): string {
  if (before !== undefined) {
    throw new InvalidArgumentError(`There is one already, ${before}: put the lines of both into one file.`);
  }
  return file;
}

const idSpaces: readonly ApicurioIdSpace[] = ["contentId", "globalId"];

// The driver's own bounds. It is not loaded for `--help`, so a test holds them equal.
const maxFetchBytes = 524_288_000;
const maxDecompressedBytes = 1_073_741_824;

function parseFetchBytes(text: string): number {
  return atMost(maxFetchBytes, text);
}

function parseDecompressedBytes(text: string): number {
  return atMost(maxDecompressedBytes, text);
}

function atMost(max: number, text: string): number {
  const bytes = parseCount(text);
  if (bytes > max) {
    throw new InvalidArgumentError(`It must not exceed ${max}.`);
  }
  return bytes;
}
