/**
 * `npm run check`: types, lint, format, rooms, dependencies and documents, each judged even if another failed. `npm run check -- NAME...`
 * judges those alone; `types` stands for every check whose name begins with it.
 */
import { existsSync, readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import process from "node:process";
import { readArguments, refuse } from "./arguments.mjs";
import { captureBeside, demandWritable, repositoryRoot, setUp, toolPath } from "./set-up.mjs";

const usage = `usage: npm run check -- [NAME]...

  NAME    one of the checks (default: all); types stands for every check whose name begins with it. A name that is none lists them`;

const { positionals: names } = readArguments(usage, {}, { words: true });
demandWritable();
await setUp();

// After setUp: what follows may need installed packages.
const { bundlePackages } = await import("./bundle.mjs");
const { checkDependencies } = await import("./dependencies.mjs");
const { checkDocstrings } = await import("./docstrings.mjs");
const { checkErrorPages } = await import("./error-pages.mjs");
const { checkFormatNames } = await import("./format-names.mjs");
const { checkFormatTables } = await import("./format-tables.mjs");
const { checkLicences } = await import("./licences.mjs");
const { checkLinks } = await import("./links.mjs");
const { checkCodeBlocks, checkCommands, checkPaths } = await import("./readme.mjs");
const { checkReference } = await import("./docs/reference.mjs");
const { checkGuarantees } = await import("./guarantees.mjs");
const { checkOptionTables } = await import("./option-tables.mjs");
const { checkPublishedTables } = await import("./published-tables.mjs");
const { checkRepository } = await import("./repository.mjs");
const { checkRooms } = await import("./rooms.mjs");
const { checkTarballs } = await import("./tarballs.mjs");
const { checkWords } = await import("./words.mjs");

/**
 * @typedef {object} Check
 * @property {string} name
 * @property {string} of what it judges
 * @property {() => string | Promise<string>} judge ends in what is wrong, as text; an empty text is a pass
 */

/**
 * Those that take longest come first: several run at a time.
 * @type {readonly Check[]}
 */
const checks = [
  { name: "types-packages", of: "types of packages", judge: build },
  { name: "types-tests", of: "types of tests", judge: () => run("tsc", ["-p", "test", "--pretty", "false"]) },
  { name: "lint", of: "lint", judge: () => run("oxlint", ["--type-aware", "--deny-warnings", "--report-unused-disable-directives"]) },
  { name: "tarballs", of: "packages as they are published", judge: () => built(checkTarballs) },
  {
    name: "api-reference",
    of: "pages of the API in docs/api",
    judge: () => built(async () => (await checkReference(repositoryRoot)).join("\n")),
  },
  { name: "types-examples", of: "types of examples", judge: () => built(typesOfExamples) },
  {
    name: "types-fuzz", // built by itself
    of: "types of the fuzz campaign",
    judge: () => built(() => run("tsc", ["-b", "test/fuzz", "--pretty", "false"])),
  },
  { name: "types-scripts", of: "types of scripts", judge: () => run("tsc", ["-p", "scripts", "--pretty", "false"]) },
  { name: "types-page", of: "types of the page", judge: () => run("tsc", ["-p", "packages/cdc-bench/ui", "--pretty", "false"]) },
  { name: "code-blocks", of: "code blocks of documents", judge: () => built(() => checkCodeBlocks(repositoryRoot)) },
  { name: "format", of: "format", judge: () => run("biome", ["format", "--colors=off", "--reporter=summary", "."]) },
  { name: "rooms", of: "the imports between packages and rooms", judge: () => checkRooms(repositoryRoot).join("\n") },
  { name: "words", of: "words of names", judge: () => checkWords(repositoryRoot).join("\n") },
  { name: "format-names", of: "names of formats", judge: () => checkFormatNames(repositoryRoot).join("\n") },
  { name: "dependencies", of: "dependencies and their reasons", judge: () => checkDependencies(repositoryRoot).join("\n") },
  { name: "licences", of: "licences of dependencies", judge: () => checkLicences(repositoryRoot).join("\n") },
  { name: "commands", of: "commands of documents", judge: () => checkCommands(repositoryRoot).join("\n") },
  { name: "paths", of: "paths of documents", judge: () => checkPaths(repositoryRoot).join("\n") },
  { name: "links", of: "links of documents", judge: () => checkLinks(repositoryRoot).join("\n") },
  { name: "docstrings", of: "doc comments of public names", judge: () => checkDocstrings(repositoryRoot).join("\n") },
  { name: "error-pages", of: "pages of error codes", judge: () => checkErrorPages(repositoryRoot).join("\n") },
  { name: "repository", of: "addresses of the repository", judge: () => checkRepository(repositoryRoot).join("\n") },
  { name: "format-tables", of: "tables of formats", judge: () => checkFormatTables(repositoryRoot) },
  { name: "option-tables", of: "tables of options in READMEs", judge: () => checkOptionTables(repositoryRoot).join("\n") },
  { name: "published-tables", of: "tables of published benchmarks", judge: () => checkPublishedTables(repositoryRoot).join("\n") },
  { name: "guarantees", of: "guarantees and their tests", judge: () => checkGuarantees(repositoryRoot) },
];

/** @type {Promise<string> | undefined} */
let building;

/** Compiles and bundles the packages, once however many checks read the build. */
function build() {
  building ??= run("tsc", ["-b", "--pretty", "false"]).then((complaint) => {
    if (complaint === "") {
      bundlePackages(repositoryRoot);
    }
    return complaint;
  });
  return building;
}

/** @param {() => string | Promise<string>} judge */
async function built(judge) {
  await build(); // what is wrong with it, `types-packages` says
  return judge();
}

async function typesOfExamples() {
  const complaints = [];
  for (const folder of exampleFolders()) {
    complaints.push(await run("tsc", ["-p", folder, "--noEmit", "--pretty", "false"]));
  }
  return complaints.filter((complaint) => complaint !== "").join("\n");
}

function exampleFolders() {
  const examples = join(repositoryRoot, "examples");
  const folders = existsSync(examples) ? readdirSync(examples).map((name) => join("examples", name)) : [];
  // A page for browsers has a folder and a configuration of its own.
  return folders
    .flatMap((folder) => [folder, join(folder, "page")])
    .filter((folder) => existsSync(join(repositoryRoot, folder, "tsconfig.json")));
}

/**
 * @param {string} tool
 * @param {readonly string[]} args
 */
async function run(tool, args) {
  const { status, output } = await captureBeside(toolPath(tool), args);
  return status === 0 ? "" : output || `${tool} ended with code ${status}`;
}

/** The checks that were asked for. */
function chosenChecks() {
  const unknown = names.find((name) => !checks.some((check) => isNamed(check, name)));
  if (unknown !== undefined) {
    const list = checks.map(({ name, of }) => `  ${name.padEnd(16)}${of}`).join("\n");
    return refuse(`There is no check "${unknown}". The checks are:`, list);
  }
  return names.length === 0 ? checks : checks.filter((check) => names.some((name) => isNamed(check, name)));
}

/**
 * @param {Check} check
 * @param {string} name
 */
function isNamed(check, name) {
  return check.name === name || (name === "types" && check.name.startsWith("types-"));
}

/** @param {Check} check */
async function passes({ name, judge }) {
  const startedAt = performance.now();
  const wrong = await complaintOf(judge);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  if (wrong !== "") {
    console.log(wrong);
  }
  console.log(`${wrong === "" ? "ok  " : "FAIL"}  ${name}  ${seconds} s`);
  return wrong === "";
}

/**
 * What a check finds wrong. One that throws has not passed, and the others are still judged.
 * @param {Check["judge"]} judge
 */
async function complaintOf(judge) {
  try {
    return await judge();
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
}

const chosen = chosenChecks();
const waiting = [...chosen];
/** @type {string[]} */
const failed = [];

async function takeChecks() {
  for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) {
    if (!(await passes(check))) {
      failed.push(check.name);
    }
  }
}

await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, takeChecks));
const seconds = (performance.now() / 1000).toFixed(0); // since the process began
const all = chosen.length === 1 ? `${chosen[0]?.name} passed` : `all ${chosen.length} passed`;
console.log(`check: ${failed.length === 0 ? all : `failed: ${failed.join(", ")}`} (${seconds} s)`);
process.exitCode = failed.length === 0 ? 0 : 1;
