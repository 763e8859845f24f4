/**
 * `npm test`: the tests, from a fresh clone, except those of whole commands (`npm run test:commands`). The last line is
 * `N passed, N failed, N skipped`, and nothing else stands on it.
 *
 * What follows `npm test --` goes to vitest: `npm test -- packages/decode -t tombstone`.
 */
import { randomInt } from "node:crypto";
import process from "node:process";
import { argumentsFor } from "./arguments.mjs";
import { ClosingReport } from "./closing-report.mjs";
import { demandWritable, repositoryRoot, setUp } from "./set-up.mjs";
import { vitestOptions, vitestOptionsText } from "./vitest-options.mjs";

const usage = `usage: npm test -- [FILTER]... [OPTION]...

  FILTER    a part of the paths of test files (default: all but those of whole commands: npm run test:commands)

${vitestOptionsText}`;

const args = argumentsFor(usage, vitestOptions);
const report = new ClosingReport();

demandWritable();
await setUp({ build: true }); // the tests of the command line run what users run: dist

// After setUp: before it there may be no vitest.
const { runTests } = await import("./run-tests.mjs");
const { noteResults } = await import("./guarantees.mjs");

process.env.FAST_CHECK_SEED ??= String(randomInt(2 ** 31));

const reporter = await runTests(args, report);
noteResults(repositoryRoot, reporter.results);
console.log(`Property tests ran with FAST_CHECK_SEED=${process.env.FAST_CHECK_SEED} on Node ${process.versions.node}.`);
process.exit(reporter.failed > 0 ? 1 : process.exitCode);
