import { type Command, Option } from "commander";
import type { ExitCode } from "../exit-codes.ts";
import type { Terminal } from "../terminal.ts";
import { collectNames, parseCount } from "./option-values.ts";
import { addClusterFlags, addFileFlags, type SourceFlags } from "./source-options.ts";

export interface HintsFlags extends SourceFlags {
  readonly from?: string;
  readonly for?: readonly string[];
  readonly table?: string;
  readonly limit: number;
  readonly output?: string;
}

export function addHints(program: Command, terminal: Terminal, settle: (code: ExitCode) => void): void {
  const command = program.command("hints");
  addFileFlags(addClusterFlags(command))
    .addOption(
      new Option("--from <source>", "who has the types: a topic, a registry's subject (without --brokers), or postgres://...").conflicts([
        "file",
        "topics",
      ]),
    )
    .option("--for <topic,...>", "the topics whose values carry no types (default: what --from names)", collectNames)
    .option("--table <name>", "of a database (default: the end of the first topic of --for), or one of several in a topic")
    .option("-n, --limit <count>", "look at this many records at most (100k, 2m)", parseCount, 1_000)
    .option("-o, --output <file>", "write the hints to a file in place of stdout")
    .action(async (flags: HintsFlags) => {
      const { hints } = await import("./actions/hints.ts");
      settle(await hints(flags, terminal));
    });
}
