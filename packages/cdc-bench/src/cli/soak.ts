import { type Command, InvalidArgumentError, Option } from "commander";
import type { ExitCode } from "../exit-codes.ts";
import type { Terminal } from "../terminal.ts";
import { addTuningFlags, formatNames, type TuningFlags } from "./catch-up-options.ts";
import { addDemandFlags, type DemandFlags } from "./demand-options.ts";
import { addCleanFlag, type CleanFlag } from "./leftover-options.ts";
import { addLoginFlags } from "./login-options.ts";
import { collectNames, maxDurationMs, parseCount, parseDurationMs } from "./option-values.ts";
import { addResultFlags, type ResultFlags } from "./result-options.ts";
import { addBrokersFlag, addFetchBytesFlag, type SourceFlags } from "./source-options.ts";
import { addTlsFlags } from "./tls-options.ts";

export interface SoakFlags extends Omit<SourceFlags, "fetchBytes">, TuningFlags, DemandFlags, ResultFlags, CleanFlag {
  readonly formats: readonly string[];
  readonly minutes?: number;
  readonly duration?: number;
  readonly rate?: number;
  readonly events: number;
  readonly partitions: number;
  readonly writers: number;
  readonly seed: number;
}

export function addSoak(program: Command, terminal: Terminal, settle: (code: ExitCode) => void): void {
  const command = addFetchBytesFlag(addLoginFlags(addTlsFlags(addBrokersFlag(program.command("soak")))))
    .addOption(
      new Option("--formats <names>", `formats side by side: ${formatNames.join(", ")}`)
        .argParser(collectFormats)
        .default(["json", "avro"], "json,avro"),
    )
    .option("--minutes <count>", "how long, after the warm-up (default: 5)", parseMinutes)
    .option("-d, --duration <time>", "the same with its unit (30s, 5m, 2h)", parseDurationMs)
    .option(
      "--rate <count>",
      "events a second of each format; without it, records are read again and again as fast as possible",
      parseCount,
    )
    .option("-n, --events <count>", "events of each format that are written if there is no --rate", parseCount, 200_000)
    .option("--partitions <count>", "of each topic that is made for it", parseCount, 4)
    .option("--writers <count>", "who write the events of -n at the same time", parseCount, 8)
    .option("--seed <n>", "what the rows are made from", parseCount, 1);
  addCleanFlag(addResultFlags(addDemandFlags(addTuningFlags(command)))).action(async (flags: SoakFlags) => {
    const { soak } = await import("./actions/soak.ts");
    settle(await soak(flags, terminal));
  });
}

function collectFormats(text: string): readonly string[] {
  const names = collectNames(text);
  const unknown = names.find((name) => !formatNames.includes(name));
  if (unknown !== undefined) {
    throw new InvalidArgumentError(`There is no ${unknown}; there are ${formatNames.join(", ")}.`);
  }
  return names;
}

function parseMinutes(text: string): number {
  const minutes = Number(text);
  if (!(minutes > 0 && minutes * 60_000 <= maxDurationMs) || !/^\d+(\.\d+)?$/.test(text)) {
    throw new InvalidArgumentError("It must be a number of minutes, such as 10 or 0.5, and at most 35791.");
  }
  return minutes;
}
