/**
 * `node scripts/demanded-tests.mjs FILE...`: test files that somebody asked for by a command of their own. A test file that was skipped as a whole is a
 * failure here: `npm test` may leave out what the machine lacks, and who asks for these tests wants to know that they ran. Options go to vitest.
 */
import process from "node:process";
import { ClosingReport } from "./closing-report.mjs";
import { runTests } from "./run-tests.mjs";

const reporter = await runTests(process.argv.slice(2), new ClosingReport());
for (const line of reporter.unproven) {
  console.error(line);
}
process.exit(reporter.failed > 0 || reporter.unproven.length > 0 ? 1 : process.exitCode);
