import { type Command, Option } from "commander";
import { exitCodes, type ExitCode } from "../exit-codes.ts";
import type { Terminal } from "../terminal.ts";
import type { ValueChoices } from "../types/value-type.ts";
import { parseCount } from "./option-values.ts";
import { addClusterFlags, addFileFlags, type SourceFlags } from "./source-options.ts";

export interface TypesFlags extends SourceFlags, ValueChoices {
  readonly output?: string;
  readonly check?: boolean;
  readonly limit: number;
  readonly importFrom: string;
  readonly unavailable: boolean;
}

export function addTypes(program: Command, terminal: Terminal, settle: (code: ExitCode) => void): void {
  const command = program.command("types");
  addFileFlags(addClusterFlags(command))
    .option("-n, --limit <count>", "look at this many records at most (100k, 2m)", parseCount, 100_000)
    .option("-o, --output <file>", "write the types to a file in place of stdout")
    .option("--check", `compare with the file of -o in place of writing it; exit code ${exitCodes.regression} if it differs`)
    .option("--import-from <package>", "where the types import UNAVAILABLE from", "cdckit")
    .option("--no-unavailable", "leave UNAVAILABLE out: large columns are always sent (REPLICA IDENTITY FULL)")
    .addOption(choice("int64", ["safe", "bigint", "string"]))
    .addOption(choice("decimal", ["string", "number"]))
    .addOption(choice("time", ["iso", "raw"]))
    .addOption(choice("json", ["text", "parse"]))
    .addOption(choice("bits", ["string", "bytes", "bigint"]))
    .action(async (flags: TypesFlags) => {
      const { types } = await import("./actions/types.ts");
      settle(await types(flags, terminal));
    });
}

function choice(name: keyof ValueChoices, choices: readonly string[]): Option {
  return new Option(`--${name} <mode>`, `the decoder's option values.${name}`).choices([...choices]).default(choices[0]);
}
