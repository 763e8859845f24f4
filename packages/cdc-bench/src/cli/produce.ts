import { type Command, InvalidArgumentError, Option } from "commander";
import type { ExitCode } from "../exit-codes.ts";
import { type ChangeFormatName, changeFormatName, changeFormatNames } from "../load/change-events/format-names.ts";
import { changeOps, defaultOpMix, type ChangeOp, type OpMix, opMixOf } from "../load/change-events/op-mix.ts";
import type { Terminal } from "../terminal.ts";
import { addDemandFlags, type DemandFlags } from "./demand-options.ts";
import { refuseAlone } from "./lone-flags.ts";
import { collectNames, parseCount, parseDurationMs } from "./option-values.ts";
import { addProfileFlags, type ProfileFlags } from "./profile-options.ts";
import { addResultFlags, type ResultFlags } from "./result-options.ts";
import { addLoginFlags } from "./login-options.ts";
import { addBrokersFlag, addRegistryFlag, type SourceFlags } from "./source-options.ts";
import { addTlsFlags } from "./tls-options.ts";

/** By name, as in Kafka. Here, because what compresses is loaded only if it is needed. */
const compressionNames = ["none", "gzip", "snappy", "lz4", "zstd"] as const;

export interface ProduceFlags extends SourceFlags, DemandFlags, ResultFlags, ProfileFlags {
  readonly prefix: string;
  readonly formats?: readonly ChangeFormatName[];
  readonly compression: readonly (typeof compressionNames)[number][];
  readonly rows?: number;
  readonly duration?: number;
  readonly rate?: number;
  readonly ops: OpMix;
  readonly seed: number;
  readonly partitions: number;
  readonly createTopics?: boolean;
  readonly acks: "all" | "1" | "0";
  readonly batchBytes: number;
  readonly inFlight: number;
  readonly debeziumHeaders?: boolean;
}

const largestBatchBytes = 1_048_576; // what brokers take by default

export function addProduce(program: Command, terminal: Terminal, settle: (code: ExitCode) => void): void {
  const command = program.command("produce");
  refuseAlone(command, ["--partitions"], "--create-topics");
  // The names of the topics follow from the prefix, and nothing is read.
  addRegistryFlag(addLoginFlags(addTlsFlags(addBrokersFlag(command))));
  addProfileFlags(addResultFlags(addDemandFlags(command)))
    .option("--prefix <name>", "topics are named PREFIX-FORMAT.sales.salesorderdetail", parsePrefix, "bench")
    .option("--formats <names>", `of ${changeFormatNames.join(", ")} (default: all with --registry, otherwise JSON)`, parseFormats)
    .addOption(
      new Option("--compression <names>", `of ${compressionNames.join(", ")}; a topic for each`)
        .argParser(parseCompressions)
        .default(["none"], "none"),
    )
    .option("--rows <n>", "so many records in each topic, tombstones included (100k, 2m)", parseCount)
    .option("-d, --duration <time>", "stop after this long (30s, 2m)", parseDurationMs)
    .option("--rate <rate>", "so many records a second in each topic, such as 5k/s (default: as fast as it goes)", parseRate)
    .addOption(new Option("--ops <shares>", "shares of the operations").argParser(parseOps).default(defaultOpMix, opsText(defaultOpMix)))
    .option("--seed <n>", "what rows and operations are made from", parseCount, 1)
    .option("--create-topics", "create topics that do not exist")
    .option("--partitions <n>", "of topics that are created", parseCount, 1)
    .addOption(
      new Option("--acks <acks>", "who must have a batch before it counts; 0: nobody, and no latency is measured")
        .choices(["all", "1", "0"])
        .default("all"),
    )
    .option("--batch-bytes <n>", "a batch is sent when it has so many bytes, before compression", parseBatchBytes, 262_144)
    .option("--in-flight <n>", "requests that wait for their acknowledgement", parseCount, 5)
    .option("--debezium-headers", "add the headers that Debezium 3.5 adds")
    .action(async (flags: ProduceFlags) => {
      const { produce } = await import("./actions/produce.ts");
      settle(await produce(flags, terminal));
    });
}

/** `5k/s`, `100k`: records a second. */
export function parseRate(text: string): number {
  const [, amount] = /^(.*?)(?:\/s)?$/.exec(text) ?? [];
  try {
    return parseCount(amount ?? "");
  } catch {
    throw new InvalidArgumentError("It must be records a second, such as 500/s or 100k/s.");
  }
}

function parsePrefix(text: string): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,150}$/.test(text)) {
    throw new InvalidArgumentError("It must be the beginning of a topic's name: letters, digits, dots, dashes and underscores.");
  }
  return text;
}

/** Names of formats, also short ones, each once. */
export function parseFormats(text: string, before: readonly ChangeFormatName[] = []): readonly ChangeFormatName[] {
  const names = collectNames(text).map((name) => {
    const found = changeFormatName(name);
    if (found === undefined) {
      throw new InvalidArgumentError(`There is no format ${name}; there are ${changeFormatNames.join(", ")}.`);
    }
    return found;
  });
  return [...new Set([...before, ...names])];
}

export function parseCompressions(text: string): readonly (typeof compressionNames)[number][] {
  return collectNames(text).map((name) => {
    const found = compressionNames.find((each) => each === name);
    if (found === undefined) {
      throw new InvalidArgumentError(`There is no compression ${name}; there are ${compressionNames.join(", ")}.`);
    }
    return found;
  });
}

/** `read=50,update=50`: shares of any sum; what is not named is 0. */
export function parseOps(text: string): OpMix {
  const shares: Partial<Record<ChangeOp, number>> = {};
  for (const part of collectNames(text)) {
    const [, name, share] = /^([a-z]+)=(\d+(?:\.\d+)?)$/.exec(part) ?? [];
    const op = changeOps.find((each) => each === name);
    if (op === undefined) {
      throw new InvalidArgumentError(`It must be shares such as ${opsText(defaultOpMix)}, not ${part}.`);
    }
    shares[op] = Number(share);
  }
  try {
    return opMixOf(shares);
  } catch (error) {
    throw new InvalidArgumentError(`${(error as Error).message}.`);
  }
}

function opsText(mix: OpMix): string {
  return changeOps.map((op) => `${op}=${mix[op] * 100}`).join(",");
}

function parseBatchBytes(text: string): number {
  const bytes = parseCount(text);
  if (bytes > largestBatchBytes) {
    throw new InvalidArgumentError(`It must not exceed ${largestBatchBytes}, which is what brokers take by default.`);
  }
  return bytes;
}
