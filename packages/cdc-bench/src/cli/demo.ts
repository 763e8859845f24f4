import type { Command } from "commander";
import { compareFormats, comparisonRounds } from "../demo/compare-formats.ts";
import { comparedFormats } from "../demo/compared-formats.ts";
import { detectBundled } from "../demo/detect-bundled.ts";
import { exitCodes, type ExitCode } from "../exit-codes.ts";
import { demoJson, demoText } from "../report/demo-report.ts";
import { describeEnvironment } from "../report/environment.ts";
import { toJsonText } from "../report/json-text.ts";
import { createProgress } from "../report/progress.ts";
import { openResultSink } from "../report/result-sink.ts";
import type { Terminal } from "../terminal.ts";

interface DemoFlags {
  readonly json?: boolean;
  readonly output?: string;
}

export function addDemo(program: Command, terminal: Terminal, settle: (code: ExitCode) => void): void {
  program
    .command("demo")
    .description("No broker needed: recorded messages of every format through the whole pipeline, compared.")
    .option("--json", "the results as one JSON object")
    .option("-o, --output <file>", "write the results to a file in place of stdout")
    .action(async (flags: DemoFlags) => settle(await demo(flags, terminal)));
}

async function demo(flags: DemoFlags, terminal: Terminal): Promise<ExitCode> {
  const { interrupt } = terminal;
  const sink = await openResultSink(terminal, flags.output);
  const progress = createProgress(terminal);
  progress.note(`recorded messages: detecting formats, then ${comparisonRounds} rounds of comparison; this takes about 15 seconds`);
  try {
    const detected = await detectBundled(interrupt);
    const compared = await compareFormats(comparedFormats(), interrupt, (round) =>
      progress.update(() => (round === 0 ? "warming up" : `comparing formats, round ${round} of ${comparisonRounds}`)),
    );
    progress.end();
    const report = { aborted: interrupt.aborted, environment: describeEnvironment(), detected, compared };
    await sink.write(flags.json === true ? `${toJsonText(demoJson(report))}\n` : demoText(report));
  } finally {
    progress.end();
    await sink.close();
  }
  return interrupt.aborted ? exitCodes.interrupted : exitCodes.ok;
}
