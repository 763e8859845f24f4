import { type Command, InvalidArgumentError, Option } from "commander";
import type { ExitCode } from "../exit-codes.ts";
import type { Terminal } from "../terminal.ts";
import { parseCount, parseDurationMs } from "./option-values.ts";
import { addDemandFlags, type DemandFlags } from "./demand-options.ts";
import { addProfileFlags, type ProfileFlags } from "./profile-options.ts";
import { addResultFlags, type ResultFlags } from "./result-options.ts";
import { addClusterFlags, addFileFlags, type SourceFlags } from "./source-options.ts";

export interface RunFlags extends SourceFlags, DemandFlags, ResultFlags, ProfileFlags {
  readonly limit?: number;
  readonly duration?: number;
  readonly tail?: boolean;
  readonly validate?: boolean;
  readonly commit?: boolean;
  readonly processes?: number;
}

export function addRun(program: Command, terminal: Terminal, settle: (code: ExitCode) => void): void {
  const command = program.command("run");
  addProfileFlags(addResultFlags(addDemandFlags(addFileFlags(addClusterFlags(command)))))
    .option("-n, --limit <count>", "stop each topic after this many records (100k, 2m)", parseCount)
    .addOption(new Option("--messages <count>").hideHelp().argParser(refuseOldName))
    .option("-d, --duration <time>", "stop each topic after this long (500ms, 30s, 2m)", parseDurationMs)
    .option("--validate", "check values against the rules of their JSON Schema, and time it (needs @cdckit/json-schema)")
    .option("--commit", "commit as a service would, in the throw-away group, and time it")
    .option("--processes <count>", "so many processes consume all topics as one group, and are measured together (2, 4)", parseProcesses)
    .option(
      "--tail",
      "only what comes from now on, all topics together, with latencies, until --limit or --duration is reached or the run is stopped",
    )
    .action(async (flags: RunFlags) => {
      const { run } = await import("./actions/run.ts");
      settle(await run(flags, terminal));
    });
}

/** More than this no machine has use for, and each takes a hundred megabytes. */
const maxProcesses = 64;

function parseProcesses(text: string): number {
  const processes = parseCount(text);
  if (processes > maxProcesses) {
    throw new InvalidArgumentError(`It must be from 1 to ${maxProcesses}.`);
  }
  return processes;
}

/** What `--limit` was called before. */
function refuseOldName(): never {
  throw new InvalidArgumentError("It is called --limit (-n) now.");
}
