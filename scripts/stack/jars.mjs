import { spawn } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { createReadStream, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createInterface } from "node:readline";
import { requireMaven } from "./requirements.mjs";
import { StackError } from "./stack-error.mjs";

/** @typedef {import("./versions.mjs").JarSet} JarSet */
/** @typedef {(line: string) => void} Log */
/** @typedef {{ cacheDir?: string, log?: Log, signal?: AbortSignal | undefined }} DownloadOptions */

/** The committed list of what Maven must deliver, byte for byte. */
export const jarListFile = join(import.meta.dirname, "jars.sha256");

// The first release that copies an artifact whose parent pom is not published, as is the case with the registry's.
const dependencyPlugin = "org.apache.maven.plugins:maven-dependency-plugin:3.9.0";
const progressEveryMs = 5_000;

/**
 * Where downloads are kept between clones.
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {string}
 */
export function defaultCacheDir(env = process.env) {
  return env["CDCKIT_CACHE"] || join(env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "cdckit");
}

/**
 * The folder with exactly the listed files of a set, downloaded on the first call. Every call checks every file.
 * @param {JarSet} set
 * @param {DownloadOptions} [options]
 * @returns {Promise<string>}
 */
export async function ensureJars(set, { cacheDir = defaultCacheDir(), log = () => {}, signal } = {}) {
  const expected = expectedHashes(set);
  const folder = join(cacheDir, "jars", `${set.name}-${fingerprint(set, expected)}`);
  if (!existsSync(folder)) {
    await download(set, folder, { log, signal, check: (fresh) => checkJars(set, fresh, expected) });
  } else {
    await checkJars(set, folder, expected);
  }
  return folder;
}

/**
 * Downloads a set with Maven; the folder appears under its name only when it is complete, so that neither Ctrl-C nor a
 * second process at the same work leaves half of one.
 * @param {JarSet} set
 * @param {string} folder
 * @param {{ log: Log, signal?: AbortSignal | undefined, check?: (fresh: string) => Promise<void> }} options
 */
export async function download(set, folder, { log, signal, check = async () => {} }) {
  const maven = requireMaven();
  const work = `${folder}.${randomUUID().slice(0, 8)}`;
  mkdirSync(join(work, "lib"), { recursive: true });
  try {
    log(`downloading ${set.title}, about ${set.megabytes} MB, with Maven; this happens once, into ${folder}`);
    for (const args of mavenRuns(set, work)) {
      await runMaven(maven, args, { cwd: work, set, log, signal });
    }
    await check(join(work, "lib"));
    moveIntoPlace(join(work, "lib"), folder);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** @param {string} from @param {string} to */
function moveIntoPlace(from, to) {
  try {
    renameSync(from, to);
  } catch (error) {
    // Another process finished the same download first: its folder is as good as ours.
    if (!existsSync(to)) throw error;
  }
}

/**
 * @param {JarSet} set
 * @param {string} folder
 * @param {ReadonlyMap<string, string>} expected
 */
export async function checkJars(set, folder, expected) {
  const present = new Set(readdirSync(folder));
  for (const [file, hash] of expected) {
    if (!present.delete(file)) {
      throw mismatch(set, folder, `${file} is not there`);
    }
    const actual = await sha256(join(folder, file));
    if (actual !== hash) {
      throw mismatch(set, folder, `${file} has SHA-256 ${actual}, expected ${hash}`);
    }
  }
  const [extra] = present;
  if (extra !== undefined) {
    throw mismatch(set, folder, `${extra} is not on the list`);
  }
}

/** @param {JarSet} set @param {string} folder @param {string} what */
function mismatch(set, folder, what) {
  return new StackError(
    "jar-mismatch",
    `${set.title}: ${what} (${folder}, list: scripts/stack/jars.sha256). Delete that folder and try again; ` +
      "if it happens again, the repository that Maven uses delivers something else than what this project was tested with",
  );
}

/** @param {string} file @returns {Promise<string>} */
export async function sha256(file) {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file, { highWaterMark: 1 << 20 }), hash);
  return hash.digest("hex");
}

/**
 * The files of a set with their hashes. The list has the format of `sha256sum`.
 * @param {JarSet} set
 * @param {string} [list]
 * @returns {Map<string, string>}
 */
export function expectedHashes(set, list = readFileSync(jarListFile, "utf8")) {
  const entries = list
    .split("\n")
    .map((line) => /^([0-9a-f]{64}) {2}([^/]+)\/(.+)$/.exec(line))
    .filter((match) => match !== null && match[2] === set.name)
    .map((match) => /** @type {[string, string]} */ ([match?.[3], match?.[1]]));
  return new Map(entries);
}

/** @param {JarSet} set @param {ReadonlyMap<string, string>} expected */
function fingerprint(set, expected) {
  return createHash("sha256")
    .update(JSON.stringify([set.artifacts, set.leaveOut, ...expected]))
    .digest("hex")
    .slice(0, 12);
}

/** @param {JarSet} set @param {string} work @returns {string[][]} */
function mavenRuns(set, work) {
  const archives = set.artifacts.filter((artifact) => artifact.type !== undefined);
  const runs = archives.map(({ group, name, version, type, classifier }) => [
    `${dependencyPlugin}:copy`,
    `-Dartifact=${[group, name, version, type, classifier].join(":")}`,
    `-DoutputDirectory=${join(work, "lib")}`,
  ]);
  if (archives.length === set.artifacts.length) return runs;
  writeFileSync(join(work, "pom.xml"), pom(set));
  return [
    ...runs,
    [
      `${dependencyPlugin}:copy-dependencies`,
      "-DincludeScope=runtime",
      `-DexcludeArtifactIds=${set.leaveOut.join(",")}`,
      `-DoutputDirectory=${join(work, "lib")}`,
    ],
  ];
}

/** @param {JarSet} set */
function pom(set) {
  const dependencies = set.artifacts
    .filter((artifact) => artifact.type === undefined)
    .map(
      ({ group, name, version }) =>
        `<dependency><groupId>${group}</groupId><artifactId>${name}</artifactId><version>${version}</version></dependency>`,
    );
  return [
    '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>',
    `<groupId>cdckit.stack</groupId><artifactId>${set.name}</artifactId><version>1</version><packaging>pom</packaging>`,
    `<dependencies>${dependencies.join("")}</dependencies></project>`,
  ].join("\n");
}

/**
 * @param {string} maven
 * @param {string[]} args
 * @param {{ cwd: string, set: JarSet, log: Log, signal: AbortSignal | undefined }} options
 */
async function runMaven(maven, args, { cwd, set, log, signal }) {
  const startedMs = Date.now();
  let files = 0;
  /** @type {string[]} */
  const errors = [];
  /** @type {string[]} */
  const complaints = [];
  const child = spawn(maven, ["-B", "-Dstyle.color=never", ...args], { cwd, stdio: ["ignore", "pipe", "pipe"] });
  child.stderr.on("data", (chunk) => complaints.push(String(chunk)));
  const stop = () => void child.kill();
  signal?.addEventListener("abort", stop);
  const timer = setInterval(() => {
    const count = files === 0 ? "" : `: ${files} files`; // none are downloaded if Maven has them, and only copies
    log(`  still downloading ${set.title}${count} after ${Math.round((Date.now() - startedMs) / 1000)} s`);
  }, progressEveryMs);
  try {
    /** @type {Promise<number | null>} */
    const ended = new Promise((resolve, reject) => child.once("error", reject).once("close", resolve));
    for await (const line of createInterface({ input: child.stdout })) {
      if (line.includes("Downloaded from")) files++;
      if (line.startsWith("[ERROR]")) errors.push(line);
    }
    const code = await ended;
    if (signal?.aborted) {
      throw new StackError("interrupted", `stopped while downloading ${set.title}`);
    }
    if (code !== 0) {
      throw new StackError(
        "maven-failed",
        `Maven could not download ${set.title} (exit code ${code}): ${errors[0] ?? (complaints.join("").trim() || "no reason given")}. Check the network and Maven's settings`,
      );
    }
  } finally {
    clearInterval(timer);
    signal?.removeEventListener("abort", stop);
    stop();
  }
}
