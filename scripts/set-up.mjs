/**
 * What a fresh clone lacks: a Node that is new enough, the packages of the lock file, and the build. Every command of this repository
 * calls this first, so that there is nothing to do by hand after `git clone`.
 */
import { spawn, spawnSync } from "node:child_process";
import { accessSync, constants, existsSync, readFileSync } from "node:fs";
import { constants as constantsOf } from "node:os";
import { dirname, join, resolve } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { bundlePackages } from "./bundle.mjs";
import { removeStaleOutput } from "./stale-output.mjs";

export const repositoryRoot = resolve(dirname(fileURLToPath(import.meta.url)), "..");

const minNode = { major: 20, minor: 19 };

/**
 * Leaves the repository ready to run.
 * @param {{ build?: boolean, quiet?: boolean }} [options] `build`: compile every package into its `dist`
 */
export async function setUp({ build = false, quiet = false } = {}) {
  demandNode(process.versions.node);
  if (!isInstalled(repositoryRoot)) {
    await install(quiet);
  }
  if (build) {
    await compile(quiet);
  }
}

/**
 * Ends the process with a sentence if Node is too old to run the packages.
 * @param {string} version
 */
function demandNode(version) {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > minNode.major || (major === minNode.major && minor >= minNode.minor)) {
    return;
  }
  fail(
    `Node ${minNode.major}.${minNode.minor} or newer is needed, this is ${version}. Install a newer one from https://nodejs.org and try again.`,
  );
}

/**
 * Whether node_modules holds what the lock file names. Compares contents, not dates: a checkout touches dates, and a needless `npm ci`
 * would take the packages away from under whatever else runs here.
 * @param {string} root
 * @returns {boolean}
 */
export function isInstalled(root) {
  const installedPath = join(root, "node_modules", ".package-lock.json");
  if (!existsSync(installedPath)) {
    return false;
  }
  const wanted = readPackages(join(root, "package-lock.json"));
  const installed = readPackages(installedPath);
  return Object.entries(wanted).every(([path, entry]) => isSettled(path, entry, installed[path]));
}

/** @typedef {{ version?: string, optional?: boolean }} LockedPackage */

/**
 * @param {string} path
 * @returns {Record<string, LockedPackage>} by folder
 */
function readPackages(path) {
  return JSON.parse(readFileSync(path, "utf8")).packages;
}

/**
 * @param {string} path
 * @param {LockedPackage} wanted
 * @param {LockedPackage | undefined} installed
 */
function isSettled(path, wanted, installed) {
  if (!path.includes("node_modules/")) {
    return true; // the repository itself and its workspaces
  }
  if (installed === undefined) {
    return wanted.optional === true; // another platform's binary
  }
  return installed.version === wanted.version;
}

/** Ends the process with a sentence if this checkout cannot be written to. */
export function demandWritable() {
  try {
    accessSync(repositoryRoot, constants.W_OK);
  } catch {
    fail(`This command writes below ${repositoryRoot}, and may not. Make the folder writable, or clone into one that is.`);
  }
}

/** @param {boolean} quiet */
async function install(quiet) {
  if (!quiet) {
    console.error("Installing the packages of package-lock.json ...");
  }
  const { status, output } = await captureOrEnd("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"]);
  if (status !== 0) {
    console.error(output);
    fail("npm ci failed, see above. Without a network: point npm at a registry that this machine reaches, then try again.");
  }
}

/** @param {boolean} quiet */
async function compile(quiet) {
  if (!quiet) {
    console.error("Building ...");
  }
  const { status, output } = await captureOrEnd(toolPath("tsc"), ["-b"]);
  if (status !== 0) {
    console.error(output);
    fail("The build failed, see above.");
  }
  removeStaleOutput(repositoryRoot);
  bundlePackages(repositoryRoot);
}

/**
 * The path of an installed command line tool.
 * @param {string} name
 */
export function toolPath(name) {
  return join(repositoryRoot, "node_modules", ".bin", name);
}

/**
 * Runs a command in the repository's root and keeps what it prints.
 * @param {string} command
 * @param {readonly string[]} args
 */
export function capture(command, args) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd: repositoryRoot,
    encoding: "utf8",
    maxBuffer: 256 * 1024 * 1024,
  });
  return { status: status ?? 1, stdout: stdout ?? "", output: [stdout, stderr, error?.message].filter(Boolean).join("").trimEnd() };
}

/**
 * Runs a command in the repository's root beside others, and keeps what it prints.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {AbortSignal} [signal] kills the command
 * @returns {Promise<{ status: number, output: string }>}
 */
export function captureBeside(command, args, signal) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: repositoryRoot, stdio: ["ignore", "pipe", "pipe"], signal, killSignal: "SIGKILL" });
    /** @type {Buffer[]} */
    const chunks = [];
    child.stdout.on("data", (chunk) => chunks.push(chunk));
    child.stderr.on("data", (chunk) => chunks.push(chunk));
    child.on("error", (error) => resolve({ status: 1, output: error.message }));
    child.on("close", (status) => resolve({ status: status ?? 1, output: Buffer.concat(chunks).toString().trimEnd() }));
  });
}

/** Signals that end a process. */
const endings = /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"]);

/**
 * The same, and a signal that would end this process kills the command first. After a Ctrl-C, `npm ci` would go on for a minute to remove what it
 * has installed, and the next start would install into the same folders meanwhile.
 * @param {string} command
 * @param {readonly string[]} args
 */
export async function captureOrEnd(command, args) {
  const killing = new AbortController();
  /** @param {NodeJS.Signals} signal */
  const end = (signal) => {
    killing.abort();
    process.exit(128 + constantsOf.signals[signal]);
  };
  for (const signal of endings) {
    process.on(signal, end);
  }
  const captured = await captureBeside(command, args, killing.signal);
  for (const signal of endings) {
    process.off(signal, end);
  }
  return captured;
}

/** Installs Confluent's client if it is not there, or ends the process with what was printed above. */
export function linkConfluentClient() {
  const { status } = spawnSync(process.execPath, ["scripts/confluent-client.mjs"], { cwd: repositoryRoot, stdio: "inherit" });
  if (status !== 0) {
    process.exit(1);
  }
}

/**
 * Runs a Node script in this terminal to its end. A signal that would end this process ends the script, and then this process as the script
 * ended: nothing that the script has started is left behind.
 * @param {readonly string[]} args flags of Node, the script, and its arguments
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, execPath?: string }} [options]
 * @returns {Promise<number>} its exit code
 */
export function runHere(args, { cwd = process.cwd(), env = process.env, execPath = process.execPath } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(execPath, args, { cwd, env, stdio: "inherit" });
    let isInterrupted = false;
    /** @param {NodeJS.Signals} signal */
    const passOn = (signal) => {
      isInterrupted = true;
      if (signal !== "SIGINT") {
        child.kill(signal); // a terminal sends its Ctrl-C to the script, too
      }
    };
    for (const signal of endings) {
      process.on(signal, passOn);
    }
    child.once("error", reject);
    child.once("exit", (status, signal) => {
      for (const one of endings) {
        process.off(one, passOn);
      }
      const code = status ?? 128 + constantsOf.signals[/** @type {NodeJS.Signals} */ (signal)];
      if (isInterrupted) {
        process.exit(code);
      }
      resolve(code);
    });
  });
}

/**
 * Runs a script of this repository in this terminal, and ends this process as it ends.
 * @param {string} script
 * @param {readonly string[]} args
 * @returns {Promise<never>}
 */
export async function become(script, args) {
  process.exit(await runHere([join(repositoryRoot, script), ...args]));
}

/**
 * @param {string} sentence
 * @returns {never}
 */
export function fail(sentence) {
  console.error(sentence);
  process.exit(1);
}
