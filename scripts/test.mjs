/**
 * `npm test`: every test, from a fresh clone. The last line is `N passed, N failed, N skipped`, and nothing else stands on it.
 *
 * What follows `npm test --` goes to vitest: `npm test -- packages/decode -t tombstone`.
 */
import { randomInt } from "node:crypto";
import process from "node:process";
import { ClosingReport } from "./closing-report.mjs";
import { demandWritable, repositoryRoot, setUp } from "./set-up.mjs";

const report = new ClosingReport();

demandWritable();
setUp({ build: true }); // the tests of the command line run what users run: dist

// After setUp: before it there may be no vitest.
const { parseCLI, startVitest } = await import("vitest/node");
const { CountingReporter } = await import("./vitest-reporter.mjs");
const { noteResults } = await import("./guarantees.mjs");

process.env.FAST_CHECK_SEED ??= String(randomInt(2 ** 31));
process.env.NODE_ENV ??= "test";

const reporter = new CountingReporter();
report.begin(reporter);
try {
  const { filter, options } = parseCLI(["vitest", "run", ...process.argv.slice(2)]);
  const vitest = await startVitest("test", filter, { ...options, run: true, watch: false, reporters: [reporter] });
  await vitest.close();
  report.end();
} catch (error) {
  console.error(error);
  process.exitCode = 1;
}

for (const line of [...reporter.skippedLines, ...reporter.summaryLines]) {
  console.log(line);
}
for (const line of [...reporter.retriedLines, ...reporter.failedLines]) {
  console.log(line);
}
noteResults(repositoryRoot, reporter.results);
console.log(`Property tests ran with FAST_CHECK_SEED=${process.env.FAST_CHECK_SEED} on Node ${process.versions.node}.`);
process.exit(reporter.failed > 0 ? 1 : process.exitCode);
