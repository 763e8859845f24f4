import type { Command } from "commander";
import type { ExitCode } from "../exit-codes.ts";
import { collectFilter, type RedriveFilter } from "../redrive/redrive-filter.ts";
import type { Terminal } from "../terminal.ts";
import { addLoginFlags } from "./login-options.ts";
import { parseCount } from "./option-values.ts";
import { addBrokersFlag, addFetchLimitFlags, type SourceFlags } from "./source-options.ts";
import { addTlsFlags } from "./tls-options.ts";

export interface RedriveFlags extends Omit<SourceFlags, "topics"> {
  readonly topic: string;
  readonly to?: string;
  readonly filter?: RedriveFilter;
  readonly limit?: number;
  readonly maxRedrives: number;
  readonly group?: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
  readonly output?: string;
}

export function addRedrive(program: Command, terminal: Terminal, settle: (code: ExitCode) => void): void {
  const command = program.command("redrive");
  addFetchLimitFlags(addLoginFlags(addTlsFlags(addBrokersFlag(command))))
    .requiredOption("-t, --topic <name>", "the dead-letter topic")
    .option("--to <topic>", "write everything to this topic, and not to where it came from")
    .option("--filter <name=value>", "only these: topic=NAME, code=CODE, since=TIME, until=TIME; may be repeated", collectFilter)
    .option("-n, --limit <count>", "stop after so many are redriven; the next run goes on", parseCount)
    .option("--max-redrives <count>", "refuse a record that was redriven so often and came back", parseCount, 3)
    .option("--group <name>", "the group that keeps the progress; another one begins anew")
    .option("--dry-run", "say what would be written; write nothing and commit nothing")
    .option("--json", "the results as one JSON object")
    .option("-o, --output <file>", "write the results to a file in place of stdout")
    .action(async (flags: RedriveFlags) => {
      const { redrive } = await import("./actions/redrive.ts");
      settle(await redrive(flags, terminal));
    });
}
