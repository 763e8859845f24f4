import { type Command, Option } from "commander";
import type { ExitCode } from "../exit-codes.ts";
import type { Terminal } from "../terminal.ts";

/** Every form of a report. */
const reportFormats = ["html", "markdown", "csv", "text"] as const;

export interface ReportFlags {
  readonly output?: string;
  readonly format?: (typeof reportFormats)[number];
  readonly title?: string;
}

export function addReport(program: Command, terminal: Terminal, settle: (code: ExitCode) => void): void {
  program
    .command("report")
    .argument("<files...>", "results: what commands wrote with --json -o FILE")
    .option("-o, --output <file>", "write the report to a file in place of stdout")
    .addOption(new Option("--format <format>", "default: by the name of the output file; else html").choices(reportFormats))
    .option("--title <text>", "what the report is called")
    .action(async (files: readonly string[], flags: ReportFlags) => {
      const { report } = await import("./actions/report.ts");
      settle(await report(files, flags, terminal));
    });
}
