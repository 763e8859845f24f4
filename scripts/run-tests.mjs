/** One run of vitest that prints what failed and what was skipped, and a closing line with the counts as the last one of the process. */
import process from "node:process";
import { CountingReporter } from "./vitest-reporter.mjs";

/** The project of vitest.config.ts with the tests of whole commands. They have a command of their own: `npm run test:commands`. */
const ofCommands = "commands";

/**
 * Resolves when all tests have run. Those of whole commands are among them only if a file or a project is asked for.
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
    const project = options.project ?? (filter.length === 0 ? [`!${ofCommands}`] : undefined);
    const vitest = await startVitest("test", filter, {
      ...options,
      ...(project && { project }),
      run: true,
      watch: false,
      reporters: [reporter],
    });
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
