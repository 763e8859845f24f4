/**
 * GUARANTEES.md: what the runtime promises, and the tests that hold it. Each test is looked for in its file and must have passed when it
 * last ran (`test/guarantee-results.json`, which `npm test` keeps up to date). Run as a program, it runs those tests and writes both anew.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { notPromised } from "./not-promised.mjs";
import { brokerRunsFile, promises } from "./promises.mjs";
import { repositoryRoot } from "./set-up.mjs";
/** @typedef {import("./promises.mjs").Proof} Proof */

const page = "GUARANTEES.md";
const resultsFile = "test/guarantee-results.json";

/**
 * What is wrong with the page; an empty text if nothing.
 * @param {string} root
 * @returns {string}
 */
export function checkGuarantees(root) {
  const wrong = proofs().flatMap((proof) => wrongWith(root, proof, resultsOf(root)));
  const path = join(root, page);
  if (!existsSync(path) || readFileSync(path, "utf8") !== pageOf()) {
    wrong.push(`${page} is not what its tests say: node scripts/guarantees.mjs`);
  }
  return wrong.join("\n");
}

/**
 * Notes what became of the tests that prove something. What did not run stays as it was.
 * @param {string} root
 * @param {Readonly<Record<string, "passed" | "failed">>} results by file and name, as {@link keyOf} joins them
 */
export function noteResults(root, results) {
  const known = resultsOf(root);
  const noted = Object.fromEntries(
    proofs()
      .map((proof) => keyOf(proof))
      .map((key) => [key, results[key] ?? known[key]])
      .filter(([, state]) => state !== undefined),
  );
  const text = `${JSON.stringify(noted, null, 2)}\n`;
  if (text !== `${JSON.stringify(known, null, 2)}\n`) {
    writeFileSync(join(root, resultsFile), text);
  }
}

/** @param {Proof} proof */
function keyOf([file, test]) {
  return `${file}: ${test}`;
}

/** @returns {Proof[]} each once, in the order of their names */
function proofs() {
  const all = new Map(promises.flatMap((promised) => promised.proofs.map((proof) => [keyOf(proof), proof])));
  return [...all].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, proof]) => proof);
}

/**
 * @param {string} root
 * @returns {Record<string, "passed" | "failed">}
 */
function resultsOf(root) {
  const path = join(root, resultsFile);
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : {};
}

/**
 * @param {string} root
 * @param {Proof} proof
 * @param {Readonly<Record<string, string>>} results
 * @returns {string[]}
 */
function wrongWith(root, proof, results) {
  const [file, test] = proof;
  const path = join(root, file);
  if (file !== brokerRunsFile && !(existsSync(path) && readFileSync(path, "utf8").includes(`"${test}"`))) {
    return [`${page}: there is no test "${test}" in ${file}`];
  }
  const state = results[keyOf(proof)];
  return state === "passed" ? [] : [`${page}: "${test}" in ${file} has ${state === undefined ? "not run yet" : "failed"}`];
}

function pageOf() {
  const rows = promises.map(({ id, text, proofs: held, notYet }) => {
    const tests = held.map(([file, test]) => (file === brokerRunsFile ? `\`npm run test:brokers\`: ${test}` : `\`${file}\`: "${test}"`));
    return `| ${id} | ${text} | ${[...tests, ...(notYet === undefined ? [] : [`**not yet**: ${notYet}`])].join("<br>")} |`;
  });
  return [
    "# Guarantees",
    "",
    "What the runtime promises, and the tests that hold it. This page is made by `node scripts/guarantees.mjs`; `npm run check` fails if a",
    "test that it names is not there, or did not pass when it last ran.",
    "",
    "| | promise | held by |",
    "|---|---|---|",
    ...rows,
    "",
    "## Not promised",
    "",
    ...notPromised.map((text) => `- ${text}`),
    "",
  ].join("\n");
}

/** Runs the tests that prove something, and writes the page. With `--page`, the page alone. */
async function writePage() {
  writeFileSync(join(repositoryRoot, page), pageOf());
  if (process.argv.includes("--page")) {
    return;
  }
  const { startVitest } = await import("vitest/node");
  const { CountingReporter } = await import("./vitest-reporter.mjs");
  const files = [...new Set(proofs().map(([file]) => file))].filter((file) => file !== brokerRunsFile);
  const reporter = new CountingReporter();
  const vitest = await startVitest("test", files, { run: true, watch: false, reporters: [reporter] });
  await vitest.close();
  noteResults(repositoryRoot, reporter.results);
  console.log(reporter.closingLine);
  console.log(checkGuarantees(repositoryRoot) || `${page} is written`);
  process.exit(reporter.failed > 0 ? 1 : 0);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await writePage();
}
