/** `npm run check`: types, lint, format, rooms, dependencies and documents, each judged even if one before it failed. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import process from "node:process";
import { capture, demandWritable, repositoryRoot, setUp, toolPath } from "./set-up.mjs";

demandWritable();
setUp();

// After setUp: what follows may need installed packages.
const { checkDependencies } = await import("./dependencies.mjs");
const { checkFormatTables } = await import("./format-tables.mjs");
const { checkCodeBlocks, checkCommands, checkPaths } = await import("./readme.mjs");
const { checkGuarantees } = await import("./guarantees.mjs");
const { checkRooms } = await import("./rooms.mjs");
const { checkTarballs } = await import("./tarballs.mjs");

/** A step ends in what is wrong, as text; an empty text is a pass. */
const steps = [
  { name: "types of packages", judge: () => run("tsc", ["-b", "--pretty", "false"]) },
  { name: "packages as they are published", judge: () => checkTarballs() },
  { name: "types of tests", judge: () => run("tsc", ["-p", "test", "--pretty", "false"]) },
  { name: "types of the fuzz campaign", judge: () => run("tsc", ["-b", "test/fuzz", "--pretty", "false"]) }, // it is built by itself
  {
    name: "types of examples",
    judge: () =>
      exampleFolders()
        .map((folder) => run("tsc", ["-p", folder, "--noEmit", "--pretty", "false"]))
        .filter(Boolean)
        .join("\n"),
  },
  { name: "types of scripts", judge: () => run("tsc", ["-p", "scripts", "--pretty", "false"]) },
  { name: "lint", judge: () => run("oxlint", ["--type-aware", "--deny-warnings", "--report-unused-disable-directives"]) },
  { name: "format", judge: () => run("biome", ["format", "--colors=off", "--reporter=summary", "."]) },
  { name: "rooms", judge: () => checkRooms(repositoryRoot).join("\n") },
  { name: "dependencies", judge: () => checkDependencies(repositoryRoot).join("\n") },
  { name: "code blocks of documents", judge: () => checkCodeBlocks(repositoryRoot) },
  { name: "commands of documents", judge: () => checkCommands(repositoryRoot).join("\n") },
  { name: "tables of formats", judge: () => checkFormatTables(repositoryRoot) },
  { name: "guarantees", judge: () => checkGuarantees(repositoryRoot) },
  { name: "paths of documents", judge: () => checkPaths(repositoryRoot).join("\n") },
];

function exampleFolders() {
  const examples = join(repositoryRoot, "examples");
  const folders = existsSync(examples) ? readdirSync(examples).map((name) => join("examples", name)) : [];
  return folders.filter((folder) => existsSync(join(repositoryRoot, folder, "tsconfig.json")));
}

/**
 * @param {string} tool
 * @param {readonly string[]} args
 */
function run(tool, args) {
  const { status, output } = capture(toolPath(tool), args);
  return status === 0 ? "" : output || `${tool} ended with code ${status}`;
}

const failed = [];
for (const { name, judge } of steps) {
  const startedAt = performance.now();
  const wrong = judge();
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  if (wrong !== "") {
    console.log(wrong);
    failed.push(name);
  }
  console.log(`${wrong === "" ? "ok  " : "FAIL"}  ${name}  ${seconds} s`);
}

console.log(failed.length === 0 ? `check: all ${steps.length} steps passed` : `check: failed: ${failed.join(", ")}`);
process.exitCode = failed.length === 0 ? 0 : 1;
