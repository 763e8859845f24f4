import { type Command, InvalidArgumentError } from "commander";
import type { ExitCode } from "../exit-codes.ts";
import type { ChangeFormatName } from "../load/change-events/format-names.ts";
import type { Terminal } from "../terminal.ts";
import { addDemandFlags, type DemandFlags } from "./demand-options.ts";
import { addCleanFlag, type CleanFlag } from "./leftover-options.ts";
import { refuseAlone } from "./lone-flags.ts";
import { parseCount } from "./option-values.ts";
import { parseFormats } from "./produce.ts";
import { addProfileFlags, type ProfileFlags } from "./profile-options.ts";
import { addResultFlags, type ResultFlags } from "./result-options.ts";
import { addClusterFlags, addFileFlags, type SourceFlags } from "./source-options.ts";

export interface CompareFlags extends SourceFlags, DemandFlags, ResultFlags, ProfileFlags, CleanFlag {
  readonly rows?: number;
  readonly formats?: readonly ChangeFormatName[];
  readonly partitions: number;
  readonly rounds: number;
  readonly client: string;
  readonly peers: boolean;
  readonly repeat: number;
  readonly seed: number;
}

const defaultRounds = 5;
/** The number is of `fetchLimitsOf`, which is not loaded for `--help`: a test holds them equal. */
const comparedFetchBytes = "1048576, for each client";

export function addCompare(program: Command, terminal: Terminal, settle: (code: ExitCode) => void): void {
  const command = program.command("compare");
  refuseAlone(command, ["--formats", "--partitions", "--seed"], "--rows");
  refuseAlone(command, ["--repeat"], "--file");
  addCleanFlag(addProfileFlags(addResultFlags(addDemandFlags(addFileFlags(addClusterFlags(command, comparedFetchBytes))))))
    .option("--rows <n>", "in place of --topics: write so many rows to throw-away topics in every format, and delete them", parseCount)
    .option("--formats <names>", "of --rows (default: all with --registry, otherwise JSON)", parseFormats)
    .option("--partitions <n>", "of throw-away topics", parseCount, 1)
    .option("--seed <n>", "what rows are made from", parseCount, 1)
    .option("--rounds <n>", "rounds that count; one more warms up", parseCount, defaultRounds)
    .option("--client <name>", "the Kafka client under cdckit: kafkajs", parseClient, "kafkajs")
    .option("--no-peers", "only cdckit, without what people use today and without kafkajs alone")
    .option("--repeat <n>", "how often the whole pipeline reads a recording in a round", parseCount, 20)
    .action(async (flags: CompareFlags) => {
      const { compare } = await import("./actions/compare.ts");
      settle(await compare(flags, terminal));
    });
}

function parseClient(text: string): string {
  if (text !== "kafkajs") {
    throw new InvalidArgumentError(`There is no driver for ${text} here yet; there is kafkajs.`);
  }
  return text;
}
