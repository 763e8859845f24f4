import { spawn } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { repositoryRoot } from "../set-up.mjs";

const binary = join(repositoryRoot, "packages/cdc-bench/bin/cdc-bench.js");

/**
 * How a part ended.
 * @typedef {object} Outcome
 * @property {string} name
 * @property {string} benchmark
 * @property {string} command without addresses: what repeats it elsewhere
 * @property {number | null} exitCode null if it was not run, or ended by a signal
 * @property {number} elapsedMs
 * @property {string | null} file its result; null if it left none
 * @property {string | null} problem why it failed, in a sentence
 */

/**
 * Runs one part to its end. An interrupt is passed on, and the part writes what it has.
 * @param {import("./parts.mjs").Part} part
 * @param {{ isQuick: boolean, folder: string, services: import("./parts.mjs").Services, interrupt: AbortSignal }} run
 * @returns {Promise<Outcome>}
 */
export async function runPart(part, { isQuick, folder, services, interrupt }) {
  const own = [...part.command, ...(isQuick ? part.quick : part.full)];
  const { flags, env } = part.where?.(services) ?? { flags: [], env: {} };
  const file = join(folder, `${part.name}.json`);
  // A result of an earlier run must not pass for this one's.
  rmSync(file, { force: true });
  const startMs = performance.now();
  const exitCode = await runToEnd([...own, ...flags, "--json", "-o", file], env, interrupt);
  const isWritten = isResult(file);
  if (!isWritten) {
    rmSync(file, { force: true });
  }
  return {
    name: part.name,
    benchmark: part.benchmark,
    command: `npx cdc-bench ${own.join(" ")}`,
    exitCode,
    elapsedMs: performance.now() - startMs,
    file: isWritten ? file : null,
    problem: problemOf(exitCode, isWritten, interrupt),
  };
}

/**
 * @param {number | null} exitCode
 * @param {boolean} isWritten
 * @param {AbortSignal} interrupt
 */
function problemOf(exitCode, isWritten, interrupt) {
  if (interrupt.aborted) {
    return isWritten ? "interrupted: its result is not all of it" : "interrupted";
  }
  if (exitCode !== 0) {
    return exitCode === null ? "it was killed" : `exit code ${exitCode}: see above`;
  }
  return isWritten ? null : "it wrote no result";
}

/**
 * @param {readonly string[]} args
 * @param {Readonly<Record<string, string>>} env
 * @param {AbortSignal} interrupt
 * @returns {Promise<number | null>}
 */
function runToEnd(args, env, interrupt) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [binary, ...args], { stdio: ["ignore", "inherit", "inherit"], env: { ...process.env, ...env } });
    const pass = () => {
      // On a terminal the child has had the user's Ctrl-C, too, and would take a second one for "at once".
      if (interrupt.reason !== "SIGINT" || process.stderr.isTTY !== true) {
        child.kill("SIGINT"); // whatever came: to this one a part listens, and writes what it has
      }
    };
    interrupt.addEventListener("abort", pass, { once: true });
    child.once("error", reject);
    child.once("exit", (code) => {
      interrupt.removeEventListener("abort", pass);
      resolve(code);
    });
  });
}

/** @param {string} file */
function isResult(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8")).schemaVersion !== undefined;
  } catch {
    return false; // it does not exist, or a part that failed left it empty
  }
}

/**
 * One HTML file of all results.
 * @param {readonly string[]} files
 * @param {string} report
 * @param {AbortSignal} interrupt
 */
export function writeReport(files, report, interrupt) {
  return runToEnd(["report", ...files, "-o", report], {}, interrupt);
}
