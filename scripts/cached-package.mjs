import { spawnSync } from "node:child_process";
import { existsSync, lstatSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { fail, repositoryRoot } from "./set-up.mjs";

/**
 * Installs a package that is no dependency of this repository once into a folder of the user's cache, and links it into node_modules. `npm ci`
 * removes the link; the next call makes it again, which takes a second.
 * @param {{ name: string, version: string, folder: string, env?: NodeJS.ProcessEnv, note: string }} options `folder`: in the cache; `note`: what
 *   is said before it is installed
 */
export function linkCachedPackage({ name, version, folder, env = {}, note }) {
  const cache = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "cdckit", folder);
  const installed = join(cache, "node_modules", name);
  if (!loads(installed)) {
    console.log(`installing ${name} ${version} into ${cache}; ${note}`);
    mkdirSync(cache, { recursive: true });
    writeFileSync(join(cache, "package.json"), JSON.stringify({ private: true }));
    const args = ["install", "--no-audit", "--no-fund", "--no-package-lock", "--foreground-scripts", `${name}@${version}`];
    const all = { ...process.env, ...env };
    const { status } = spawnSync("npm", args, { cwd: cache, env: all, stdio: "inherit", shell: process.platform === "win32" });
    if (status !== 0 || !loads(installed)) {
      fail(`${name} ${version} was not installed, or does not load: see above, and the head of ${process.argv[1]}.`);
    }
  }
  link(installed, join(repositoryRoot, "node_modules", name));
  console.log(`${name} ${version} loads; node_modules links to ${installed}`);
}

/** Whether the package is in the cache and loads, with its native part if it has one. @param {string} installed */
function loads(installed) {
  return existsSync(installed) && spawnSync(process.execPath, ["-e", `require(${JSON.stringify(installed)})`]).status === 0;
}

/** @param {string} installed @param {string} place */
function link(installed, place) {
  mkdirSync(dirname(place), { recursive: true });
  if (lstatSync(place, { throwIfNoEntry: false }) !== undefined) {
    rmSync(place, { recursive: true });
  }
  symlinkSync(installed, place, "junction");
}
