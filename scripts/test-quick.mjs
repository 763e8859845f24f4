/**
 * `npm run test:quick`: the values, unit and contract tests of what changed, the nearest to the change first, in less than a minute. Nothing
 * but Node is needed. Files or folders after `--` stand for what changed. With `--watch` (`npm run test:watch`) it stays, and runs the
 * tests of each file that is saved.
 */
import { randomInt } from "node:crypto";
import process from "node:process";
import { readArguments } from "./arguments.mjs";
import { changedFiles } from "./changed-files.mjs";
import { filesOf, relatedTests } from "./related-tests.mjs";
import { demandWritable, fail, repositoryRoot, setUp } from "./set-up.mjs";

/** From the start of the command on: then no further test begins. */
const limitMs = 50_000;
/** Then the command ends, also if a test does not. */
const hardLimitMs = 58_000;

const quickPlaces = [/^packages\/[^/]+\/src\//, /^test\/(?:contract|vectors)\//, /^test\/[^/]+$/];

/** They take longer than all others of their folder together. */
const slow = new Set(["packages/cdc-bench/src/cli/binary.test.ts", "test/bounded-memory.test.ts"]);

const usage = `usage: npm run test:quick -- [--watch] [FILE or FOLDER that stands for what changed]...

  --watch    stay, and run the tests of each file that is saved (npm run test:watch)`;

const { values, positionals: paths } = readArguments(usage, { watch: { type: "boolean", default: false } }, { words: true });
const { watch } = values;

demandWritable();
await setUp({ build: true }); // some tests run what users run: dist

process.env.FAST_CHECK_SEED ??= String(randomInt(2 ** 31));
process.env.NODE_ENV ??= "test";

const { files, since } = change();
const tests = testsOf(files);
console.log(`${count(files.length, "file")} changed${since}. Tests that reach them: ${count(tests.length, "file")}.`);

if (tests.length === 0 && !watch) {
  console.log("0 passed, 0 failed, 0 skipped");
} else {
  await runTests();
}

async function runTests() {
  const { QuickRun } = await import("./quick-run.mjs"); // after setUp: before it there may be no vitest
  // performance.now() counts from the start of the process, which has installed and built since.
  const run = new QuickRun({ testsOf, watch, limitMs: watch ? limitMs : limitMs - performance.now() });
  if (watch) {
    await run.start(tests);
    return;
  }
  const timer = setTimeout(() => close(run, true), hardLimitMs - performance.now());
  await run.start(tests);
  clearTimeout(timer);
  close(run, run.isCut);
}

/**
 * Says how the run ended, and ends the process.
 * @param {import("./quick-run.mjs").QuickRun} run
 * @param {boolean} isCut whether tests are left that did not run: they are listed as skipped, and nobody has skipped them
 */
function close({ reporter }, isCut) {
  for (const line of isCut ? [] : reporter.skippedLines) {
    console.log(line);
  }
  if (isCut) {
    console.log(`The time was up. What did not run is further from the change, or takes long: \`npm test\` runs all.`);
  }
  console.log(`Property tests ran with FAST_CHECK_SEED=${process.env.FAST_CHECK_SEED}.`);
  console.log(reporter.closingLine);
  process.exit(reporter.failed > 0 ? 1 : 0);
}

function change() {
  try {
    return paths.length > 0 ? { files: filesOf(repositoryRoot, paths), since: "" } : changedFiles();
  } catch (error) {
    return fail(/** @type {Error} */ (error).message);
  }
}

/** @param {readonly string[]} changed */
function testsOf(changed) {
  return relatedTests(repositoryRoot, changed).filter(({ file }) => quickPlaces.some((place) => place.test(file)) && !slow.has(file));
}

/**
 * @param {number} number
 * @param {string} noun
 */
function count(number, noun) {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
