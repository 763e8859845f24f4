import type { Command } from "commander";
import type { ExitCode } from "../exit-codes.ts";
import { defaultRows, defaultTableName } from "../scenario/snapshot/defaults.ts";
import type { Terminal } from "../terminal.ts";
import { addCleanFlag, type CleanFlag } from "./leftover-options.ts";
import { parseCount } from "./option-values.ts";

export interface CreateTableFlags extends CleanFlag {
  readonly database?: string;
  readonly stack?: string;
  readonly table: string;
  readonly rows: number;
  readonly seed: number;
  readonly replace?: boolean;
}

export function addCreateTable(program: Command, terminal: Terminal, settle: (code: ExitCode) => void): void {
  const command = program
    .command("create-table")
    .option("--database <url>", "postgres:// or mariadb:// (env DATABASE_URL)")
    .option("--stack <folder>", "the database of a stack of npm run stack:up (default: .stack, if it is there)")
    .option("--table <name>", "[schema.]name", defaultTableName)
    .option("--rows <n>", "so many rows: a fortieth of them differ, as in the published benchmark", parseCount, defaultRows)
    .option("--seed <n>", "what the rows are made from", parseCount, 1)
    .option("--replace", "drop an earlier table of this command first");
  addCleanFlag(command).action(async (flags: CreateTableFlags) => {
    const { createTable } = await import("./actions/create-table.ts");
    settle(await createTable(flags, terminal));
  });
}
