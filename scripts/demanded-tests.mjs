/**
 * `node scripts/demanded-tests.mjs FILE...`: test files that somebody asked for by a command of their own. A test file that was skipped as a whole is a
 * failure here: `npm test` may leave out what the machine lacks, and who asks for these tests wants to know that they ran. Options go to vitest.
 */
import process from "node:process";
import { parseCLI, startVitest } from "vitest/node";
import { ClosingReport } from "./closing-report.mjs";
import { CountingReporter } from "./vitest-reporter.mjs";

process.env.NODE_ENV ??= "test";

const report = new ClosingReport();
const reporter = new CountingReporter();
report.begin(reporter);
const { filter, options } = parseCLI(["vitest", "run", ...process.argv.slice(2)]);
const vitest = await startVitest("test", filter, { ...options, run: true, watch: false, reporters: [reporter] });
await vitest.close();
report.end();
for (const line of [...reporter.skippedLines, ...reporter.summaryLines, ...reporter.retriedLines, ...reporter.failedLines]) {
  console.log(line);
}
const { unproven } = reporter;
for (const line of unproven) {
  console.error(line);
}
process.exit(reporter.failed > 0 || unproven.length > 0 ? 1 : process.exitCode);
