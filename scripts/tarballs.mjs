/** The packages of this repository as `npm publish` would send them, and what is wrong with them for those who install them. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { capture, repositoryRoot, toolPath } from "./set-up.mjs";

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
 * What publint says of each package that is published, and where the types of one do not resolve for ESM users. Reads the build.
 * @returns {string}
 */
export function checkTarballs() {
  const folder = mkdtempSync(join(tmpdir(), "cdckit-tarballs-"));
  try {
    return pack(publishedPackages(), folder).flatMap(complaintsOf).join("\n");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {string} tarball */
function complaintsOf(tarball) {
  const judges = [
    capture(toolPath("publint"), ["run", tarball, "--strict"]),
    capture(toolPath("attw"), [tarball, "--profile", "esm-only", "--no-emoji", "--no-color"]),
  ];
  return judges.filter(({ status }) => status !== 0).map(({ output }) => output);
}
