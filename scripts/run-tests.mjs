/** One run of vitest that prints what failed and what was skipped, and a closing line with the counts as the last one of the process. */
import process from "node:process";
import { CountingReporter } from "./vitest-reporter.mjs";

/**
 * Resolves when all tests have run. What happened is printed by `printLines`.
 * @param {readonly string[]} args of vitest
 * @param {import("./closing-report.mjs").ClosingReport} report
 */
export async function runTests(args, report) {
  process.env.NODE_ENV ??= "test";
  const { parseCLI, startVitest } = await import("vitest/node");
  const reporter = new CountingReporter();
  report.begin(reporter);
  try {
    const { filter, options } = parseCLI(["vitest", "run", ...args]);
    const vitest = await startVitest("test", filter, { ...options, run: true, watch: false, reporters: [reporter] });
    await vitest.close();
    report.end();
  } catch (error) {
    console.error(error);
    process.exitCode = 1;
  }
  for (const line of [...reporter.skippedLines, ...reporter.summaryLines, ...reporter.retriedLines, ...reporter.failedLines]) {
    console.log(line);
  }
  return reporter;
}
