import { type Command, Option } from "commander";
import type { CodecMode } from "../codec/codec-result.ts";
import { seededDataSets } from "../codec/data-sets.ts";
import { defaultRounds, quick } from "../codec/how-much.ts";
import { parseLink } from "../codec/link.ts";
import type { ExitCode } from "../exit-codes.ts";
import type { Terminal } from "../terminal.ts";
import { addDemandFlags, type DemandFlags } from "./demand-options.ts";
import { collectNames, parseCount } from "./option-values.ts";
import { addProfileFlags, type ProfileFlags } from "./profile-options.ts";
import { addResultFlags, type ResultFlags } from "./result-options.ts";
import { addClusterFlags, addFileFlags, type SourceFlags } from "./source-options.ts";

export interface CodecFlags extends DemandFlags, ResultFlags, ProfileFlags, SourceFlags {
  readonly suite?: readonly string[];
  readonly data?: string;
  readonly mode: CodecMode | "both";
  readonly rows?: number;
  readonly rounds?: number;
  readonly seed: number;
  readonly quick?: boolean;
  readonly link?: number;
}

export function addCodec(program: Command, terminal: Terminal, settle: (code: ExitCode) => void): void {
  const command = program.command("codec");
  addDemandFlags(command)
    .option("--suite <names>", `data sets, separated by commas: ${Object.keys(seededDataSets).join(", ")} (default: all)`, collectNames)
    .option("--data <file>", "rows of your own in place of a suite: a JSON array of objects, or one object a line")
    .addOption(new Option("--mode <mode>", "how rows are written").choices(["list", "objects", "both"]).default("both"))
    .option("--rows <n>", "so many rows (default: what the published benchmark has)", parseCount)
    .option("--rounds <n>", `so many rounds (default: ${defaultRounds})`, parseCount)
    .option("--seed <n>", "what the rows are made from", parseCount, 1)
    .option("--quick", `at most ${quick.maxRows} rows and ${quick.rounds} rounds`)
    .option("--link <rate>", "add the time that a link of this rate takes, such as 100mbit", parseLink);
  addFileFlags(addClusterFlags(addProfileFlags(addResultFlags(command)))).action(async (flags: CodecFlags) => {
    const { codec } = await import("./actions/codec.ts");
    settle(await codec(flags, terminal));
  });
}
