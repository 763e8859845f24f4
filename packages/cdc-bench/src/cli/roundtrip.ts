import { type Command, InvalidArgumentError, Option } from "commander";
import { seededDataSets } from "../codec/data-sets.ts";
import type { ExitCode } from "../exit-codes.ts";
import { roundtripDefaults as defaults } from "../scenario/roundtrip/defaults.ts";
import { type Via, vias } from "../scenario/roundtrip/transport.ts";
import type { Terminal } from "../terminal.ts";
import { addDemandFlags, type DemandFlags } from "./demand-options.ts";
import { addCleanFlag, type CleanFlag } from "./leftover-options.ts";
import { addLoginFlags, type LoginFlags } from "./login-options.ts";
import { collectNames, parseCount, parseDurationMs } from "./option-values.ts";
import { addRedisFlag, type RedisFlags } from "./redis-options.ts";
import { addProfileFlags, type ProfileFlags } from "./profile-options.ts";
import { addResultFlags, type ResultFlags } from "./result-options.ts";
import { addBrokersFlag } from "./source-options.ts";
import { addTlsFlags, type TlsFlags } from "./tls-options.ts";

export interface RoundtripFlags extends DemandFlags, ResultFlags, ProfileFlags, RedisFlags, CleanFlag, TlsFlags, LoginFlags {
  readonly via: Via;
  readonly brokers?: readonly string[];
  readonly suite?: string;
  readonly data?: string;
  readonly rows?: number;
  readonly seed: number;
  readonly codecs?: readonly string[];
  readonly codec?: readonly string[];
  readonly compression?: readonly string[];
  readonly rounds?: number;
  readonly duration?: number;
  readonly warmup: number;
  readonly inFlight: number;
  readonly batch: number;
  readonly threads: number;
  readonly evolve: boolean;
  readonly timeout: number;
  readonly quick?: boolean;
}

export function addRoundtrip(program: Command, terminal: Terminal, settle: (code: ExitCode) => void): void {
  const command = program.command("roundtrip");
  command.addOption(new Option("--via <where>", "what carries the bytes").choices([...vias]).default("kafka"));
  addLoginFlags(addTlsFlags(addRedisFlag(addBrokersFlag(command))));
  command
    .option("--suite <name>", `what is sent: ${Object.keys(seededDataSets).join(", ")} (default: ${defaults.suite})`)
    .option("--data <file>", "rows of your own in place of a suite: a JSON array of objects, or one object a line")
    .option("--rows <n>", `so many different rows (default: ${defaults.rows}, of ratings 1)`, parseCount)
    .option("--seed <n>", "what the rows are made from", parseCount, 1)
    .option("--codecs <names,...>", "only codecs whose names begin so: json,protobuf (default: all)", collectCodecs)
    .option("--codec <file>", "a module that exports a Codec of yours; repeatable", collectFiles)
    .option("--compression <names>", "none, gzip, and over Redis brotli, zstd; several are compared (default: none)", collectNames)
    .option("--rounds <n>", `round trips of each codec, thread and mode (default: ${defaults.rounds})`, parseCount)
    .option("-d, --duration <time>", "as many rounds as fit into this time, of each codec and mode", parseDurationMs)
    .option("--warmup <n>", "rounds that do not count", parseCount, defaults.warmupRounds)
    .option("--in-flight <n>", "rounds at once in the pipelined mode; 1 leaves it out", parseCount, defaults.inFlight)
    .option("--batch <n>", "values in a round", parseCount, 1)
    .option("--threads <n>", "threads, each with a connection of its own", parseCount, 1)
    .option("--no-evolve", "leave out the schema that gets a field on the way")
    .option("--timeout <time>", "give up if no round ends for so long", parseDurationMs, defaults.timeoutMs)
    .option("--quick", `${defaults.quick.rounds} rounds and ${defaults.quick.memoryRounds} in memory`);
  addCleanFlag(addDemandFlags(addProfileFlags(addResultFlags(command)))).action(async (flags: RoundtripFlags) => {
    const { roundtrip } = await import("./actions/roundtrip.ts");
    settle(await roundtrip(flags, terminal));
  });
}

/** Names have commas in them (`json, gzip`): a comma that no space follows separates. */
function collectCodecs(text: string, before: readonly string[] = []): readonly string[] {
  const names = text.split(/,(?! )/).map((name) => name.trim());
  if (names.includes("")) {
    throw new InvalidArgumentError("It must be one name or several, separated by commas.");
  }
  return [...new Set([...before, ...names])];
}

function collectFiles(file: string, before: readonly string[] = []): readonly string[] {
  return [...before, file];
}
