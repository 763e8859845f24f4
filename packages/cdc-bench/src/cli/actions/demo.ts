import { compareFormats, comparisonRounds } from "../../demo/compare-formats.ts";
import { comparedFormats } from "../../demo/compared-formats.ts";
import { detectBundled } from "../../demo/detect-bundled.ts";
import { exitCodes, type ExitCode } from "../../exit-codes.ts";
import { describeEnvironment } from "../../report/environment.ts";
import { createObserver } from "../../observe/observer.ts";
import { openResultSink } from "../../report/result-sink.ts";
import { startRunTime } from "../../result/run-time.ts";
import { demoMetrics, demoResult } from "../../demo/demo-result.ts";
import type { Terminal } from "../../terminal.ts";
import { judge, verdictExitCode } from "../../verdict/verdict.ts";
import { resolveDemands } from "../demand-options.ts";
import type { DemoFlags } from "../demo.ts";
import { openProfiling } from "../profile-options.ts";
import { writeResult } from "../result-options.ts";

export async function demo(flags: DemoFlags, terminal: Terminal): Promise<ExitCode> {
  const { interrupt } = terminal;
  const demands = resolveDemands(flags, "demo");
  const runTime = startRunTime();
  const profiling = openProfiling(flags, "demo");
  const sink = await openResultSink(terminal, flags.output);
  const observer = createObserver(terminal, { isQuietAtFirst: true });
  observer.note(`recorded messages: detecting formats, then ${comparisonRounds} rounds of comparison; this takes about 15 seconds`);
  try {
    observer.observe(() => ({ phase: "detecting formats" }));
    const detected = await detectBundled(interrupt);
    const compared = await profiling.record(() =>
      compareFormats(comparedFormats(), interrupt, (round) =>
        observer.observe(() => ({
          phase: round === 0 ? "comparing formats: warming up" : `comparing formats, round ${round} of ${comparisonRounds}`,
          done: round,
          total: comparisonRounds + 1,
          unit: "rounds",
        })),
      ),
    );
    observer.end();
    const verdict = judge(demoMetrics(compared), demands);
    const { aborted } = interrupt;
    const measured = { ...runTime(), aborted, environment: describeEnvironment() };
    await writeResult(sink, flags, await profiling.addTo(demoResult({ ...measured, detected, compared, verdict })));
    return aborted ? exitCodes.interrupted : verdictExitCode(verdict);
  } finally {
    observer.end();
    await sink.close();
  }
}
