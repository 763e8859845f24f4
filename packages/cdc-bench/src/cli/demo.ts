import type { Command } from "commander";
import { compareFormats, comparisonRounds } from "../demo/compare-formats.ts";
import { comparedFormats } from "../demo/compared-formats.ts";
import { detectBundled } from "../demo/detect-bundled.ts";
import { exitCodes, type ExitCode } from "../exit-codes.ts";
import { demoJson, demoMetrics, demoText } from "../report/demo-report.ts";
import { describeEnvironment } from "../report/environment.ts";
import { toJsonText } from "../report/json-text.ts";
import { createProgress } from "../report/progress.ts";
import { openResultSink } from "../report/result-sink.ts";
import type { Terminal } from "../terminal.ts";
import { judge, verdictExitCode } from "../verdict/verdict.ts";
import { addDemandFlags, type DemandFlags, resolveDemands } from "./demand-options.ts";

interface DemoFlags extends DemandFlags {
  readonly json?: boolean;
  readonly output?: string;
}

export function addDemo(program: Command, terminal: Terminal, settle: (code: ExitCode) => void): void {
  const command = program
    .command("demo")
    .description("No broker needed: recorded messages of every format through the whole pipeline, compared.");
  addDemandFlags(command)
    .option("--json", "the results as one JSON object")
    .option("-o, --output <file>", "write the results to a file in place of stdout")
    .action(async (flags: DemoFlags) => settle(await demo(flags, terminal)));
}

async function demo(flags: DemoFlags, terminal: Terminal): Promise<ExitCode> {
  const { interrupt } = terminal;
  const demands = resolveDemands(flags, "demo");
  const sink = await openResultSink(terminal, flags.output);
  const progress = createProgress(terminal);
  progress.note(`recorded messages: detecting formats, then ${comparisonRounds} rounds of comparison; this takes about 15 seconds`);
  try {
    const detected = await detectBundled(interrupt);
    const compared = await compareFormats(comparedFormats(), interrupt, (round) =>
      progress.update(() => (round === 0 ? "warming up" : `comparing formats, round ${round} of ${comparisonRounds}`)),
    );
    progress.end();
    const verdict = judge(demoMetrics(compared), demands);
    const report = { aborted: interrupt.aborted, environment: describeEnvironment(), detected, compared, verdict };
    await sink.write(flags.json === true ? `${toJsonText(demoJson(report))}\n` : demoText(report));
    return interrupt.aborted ? exitCodes.interrupted : verdictExitCode(verdict);
  } finally {
    progress.end();
    await sink.close();
  }
}
