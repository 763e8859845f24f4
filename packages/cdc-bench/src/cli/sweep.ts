import { type Command, InvalidArgumentError, Option } from "commander";
import type { ExitCode } from "../exit-codes.ts";
import { type DimensionName, dimensionNames } from "../scenario/sweep/dimensions.ts";
import type { Terminal } from "../terminal.ts";
import {
  addBacklogFlags,
  addProxyFlags,
  addTuningFlags,
  type BacklogFlags,
  type ProxyFlags,
  type TuningFlags,
} from "./catch-up-options.ts";
import { addDemandFlags, type DemandFlags } from "./demand-options.ts";
import { addCleanFlag, type CleanFlag } from "./leftover-options.ts";
import { refuseBeside } from "./lone-flags.ts";
import { collectNames, parseCount, parseDurationMs } from "./option-values.ts";
import { addProfileFlags, type ProfileFlags } from "./profile-options.ts";
import { addResultFlags, type ResultFlags } from "./result-options.ts";
import { addClusterFlags, type SourceFlags } from "./source-options.ts";

export interface SweepFlags
  extends Omit<SourceFlags, "fetchBytes">,
    BacklogFlags,
    TuningFlags,
    ProxyFlags,
    DemandFlags,
    ResultFlags,
    CleanFlag,
    ProfileFlags {
  readonly events: number;
  readonly dimensions: readonly DimensionName[];
  readonly clients: readonly "kafkajs"[];
  readonly rounds: number;
  readonly work?: number;
  readonly pointTime: number;
  readonly timeLimit: number;
}

const clients = ["kafkajs"] as const;

export function addSweep(program: Command, terminal: Terminal, settle: (code: ExitCode) => void): void {
  const command = addClusterFlags(program.command("sweep"))
    .option("-n, --events <count>", "events that are written to a topic of this run; --topics reads topics that exist", parseCount, 100_000)
    .addOption(
      new Option("--dimensions <names>", `what is varied: ${dimensionNames.join(", ")}`)
        .argParser(collectDimensions)
        .default(dimensionNames, "all"),
    )
    .option("--clients <names>", `Kafka clients: ${clients.join(", ")}`, collectClients, clients)
    .option("--rounds <count>", "measurements of each setting, in turns", parseCount, 3)
    .option("--work <time>", "how long each call of the handler waits, as for a database", parseDurationMs)
    .option("--point-time <time>", "no setting is measured for longer at a time", parseDurationMs, 5_000)
    .option("--time-limit <time>", "what is not measured by then is left out", parseDurationMs, 300_000);
  refuseBeside(command, ["--events", "--partitions", "--writers", "--format", "--compression", "--seed"], "--topics");
  addCleanFlag(addProfileFlags(addResultFlags(addDemandFlags(addProxyFlags(addTuningFlags(addBacklogFlags(command))))))).action(
    async (flags: SweepFlags) => {
      const { sweep } = await import("./actions/sweep.ts");
      settle(await sweep(flags, terminal));
    },
  );
}

function collectDimensions(text: string): readonly DimensionName[] {
  return oneOf(text, dimensionNames);
}

function collectClients(text: string): readonly "kafkajs"[] {
  return oneOf(text, clients);
}

function oneOf<T extends string>(text: string, known: readonly T[]): readonly T[] {
  const names = collectNames(text);
  const unknown = names.find((name) => !known.includes(name as T));
  if (unknown !== undefined) {
    throw new InvalidArgumentError(`There is no ${unknown}; there are ${known.join(", ")}.`);
  }
  return names as readonly T[];
}
