/** The packages of this repository as `npm publish` would send them, and what is wrong with them for users. */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { captureBeside, repositoryRoot, toolPath } from "./set-up.mjs";

/**
 * @typedef {object} Manifest
 * @property {string} name
 * @property {string} version
 * @property {boolean} [private]
 * @property {Readonly<Record<string, string>>} [dependencies]
 * @property {Readonly<Record<string, string>>} [peerDependencies]
 */

/**
 * A folder that holds a package.json: one of ours, or one of node_modules.
 * @typedef {{ readonly path: string, readonly manifest: Manifest }} PackageFolder
 */

/**
 * What this repository publishes.
 * @returns {readonly PackageFolder[]}
 */
export function publishedPackages() {
  return readdirSync(join(repositoryRoot, "packages"))
    .map((folder) => packageAt(join(repositoryRoot, "packages", folder)))
    .filter(({ manifest }) => manifest.private !== true);
}

/**
 * @param {string} path
 * @returns {PackageFolder}
 */
export function packageAt(path) {
  return { path, manifest: JSON.parse(readFileSync(join(path, "package.json"), "utf8")) };
}

/**
 * Packs packages as `npm publish` would, into one folder. Returns the tarballs in the order of the packages.
 * @param {readonly PackageFolder[]} packages
 * @param {string} folder
 * @returns {readonly string[]}
 */
export function pack(packages, folder) {
  mkdirSync(folder, { recursive: true });
  const paths = packages.map(({ path }) => path);
  const text = npm(["pack", ...paths, "--json", "--ignore-scripts", "--pack-destination", folder], repositoryRoot);
  /** @type {readonly { readonly filename: string }[]} */
  const packed = JSON.parse(text);
  return packed.map(({ filename }) => join(folder, filename));
}

/**
 * Runs npm with the settings of a user's project: those of this command are not theirs.
 * @param {readonly string[]} args
 * @param {string} folder
 * @returns {string}
 */
export function npm(args, folder) {
  const { status, stdout, stderr } = spawnSync("npm", [...args, "--loglevel=error"], {
    cwd: folder,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_(?!config_cache)/.test(name))),
  });
  if (status !== 0) {
    throw new Error(`npm ${args[0]} ended with code ${status}\n${stdout}\n${stderr}`);
  }
  return stdout;
}

/**
 * What publint says of each package that is published, and the types that do not resolve for ESM users. Reads the build. A tarball
 * that has passed is not judged again: what is asked of it depends on its bytes alone.
 * @returns {Promise<string>}
 */
export async function checkTarballs() {
  const folder = mkdtempSync(join(tmpdir(), "cdckit-tarballs-"));
  try {
    const complaints = [];
    for (const tarball of pack(publishedPackages(), folder)) {
      complaints.push(...(await complaintsOf(tarball)));
    }
    return complaints.join("\n");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {string} tarball */
async function complaintsOf(tarball) {
  const passed = join(repositoryRoot, ".cache/tarballs", markOf(tarball));
  if (existsSync(passed)) {
    return [];
  }
  const judges = await Promise.all([
    captureBeside(toolPath("publint"), ["run", tarball, "--strict"]),
    captureBeside(toolPath("attw"), [tarball, "--profile", "esm-only", "--no-emoji", "--no-color"]),
  ]);
  const complaints = judges.filter(({ status }) => status !== 0).map(({ output, status }) => output || `ended with code ${status}`);
  if (complaints.length === 0) {
    mkdirSync(dirname(passed), { recursive: true });
    writeFileSync(passed, "");
  }
  return complaints;
}

/**
 * A name for what is judged, and by which versions of the tools.
 * @param {string} tarball
 */
function markOf(tarball) {
  const { devDependencies: tools } = JSON.parse(readFileSync(join(repositoryRoot, "package.json"), "utf8"));
  const versions = `${tools.publint} ${tools["@arethetypeswrong/cli"]}`;
  return createHash("sha256").update(versions).update(readFileSync(tarball)).digest("hex");
}
