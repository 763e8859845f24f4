import type { Command } from "commander";
import type { ExitCode } from "../exit-codes.ts";
import type { Terminal } from "../terminal.ts";
import { addClusterFlags, addFileFlags, type SourceFlags } from "./source-options.ts";

export interface DoctorFlags extends SourceFlags {
  readonly json?: boolean;
  readonly output?: string;
}

export function addDoctor(program: Command, terminal: Terminal, settle: (code: ExitCode) => void): void {
  const command = program.command("doctor");
  addFileFlags(addClusterFlags(command))
    .option("--json", "the checks as one JSON object")
    .option("-o, --output <file>", "write the results to a file in place of stdout")
    .action(async (flags: DoctorFlags) => {
      const { doctor } = await import("./actions/doctor.ts");
      settle(await doctor(flags, terminal));
    });
}
